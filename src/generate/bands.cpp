// A band around the diagonal: row i has columns i - b/2 … i + (b-1)/2 as far as there are any.
#include <algorithm>

#include "generate/kinds.hpp"

namespace spdistal {
namespace {

std::vector<int64_t> dims(const Arguments& a) { return {a.integer("n"), a.integer("n")}; }

void rows(const Arguments& a, Range rows, Coordinates& out) {
  int64_t n = a.integer("n"), below = a.integer("bands") / 2, above = (a.integer("bands") - 1) / 2;
  out.reserve(rows.size() * std::min(n, a.integer("bands")));
  for (int64_t i = rows.lo; i < rows.hi; i++) {
    int64_t first = std::max<int64_t>(0, i - below), last = std::min(n - 1, i + above);
    size_t at = size_t(extend(out, last - first + 1));
    for (int64_t j = first; j <= last; j++, at++)
      out.column(0)[at] = i, out.column(1)[at] = j, out.values<double>()[at] = 0;
  }
}

}  // namespace

const GeneratorKind banded{
    .name = "banded",
    .usage = "banded,N,BANDS",
    .what = "an N x N matrix with BANDS diagonals",
    .parameters = {{.name = "n"}, {.name = "bands", .least = 1, .most = 1e9}},
    .dims = dims,
    .entries = [](const Arguments& a) { return a.real("n") * std::min(a.real("n"), a.real("bands")); },
    .rows =
        [](const Arguments& a, Range all, Coordinates& out) {
          append_in_parallel(all, out, [&](Range mine, Coordinates& made) { rows(a, mine, made); });
        }};

}  // namespace spdistal
