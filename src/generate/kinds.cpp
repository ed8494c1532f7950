#include "generate/kinds.hpp"

#include <algorithm>

#include "base/loop_errors.hpp"
#include "base/threads.hpp"

namespace spdistal {

void append_in_parallel(Range all, Coordinates& out, const std::function<void(Range, Coordinates&)>& f) {
  int64_t pieces = std::min<int64_t>(4 * loop_threads(), all.size() / 1000);
  if (pieces <= 1) return f(all, out);
  std::vector<Coordinates> made;
  for (int64_t k = 0; k < pieces; k++) made.emplace_back(out.dims(), out.type());
  LoopErrors errors;
#pragma omp parallel for schedule(dynamic) num_threads(loop_threads())
  for (int64_t k = 0; k < pieces; k++) {
    Range mine = block(all.size(), pieces, k);
    errors([&] { f({all.lo + mine.lo, all.lo + mine.hi}, made[size_t(k)]); });
  }
  errors.raise();
  int64_t total = out.size();
  for (const Coordinates& piece : made) total += piece.size();
  out.reserve(total);
  for (const Coordinates& piece : made) out.append(piece);
}

}  // namespace spdistal
