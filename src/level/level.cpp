#include "level/level.hpp"

#include <algorithm>

#include "base/threads.hpp"
#include "format/questions.hpp"

namespace spdistal {

const LevelFunctions& functions_of(const LevelFormat& level) {
  return std::visit(
      [](const auto& kind) -> const LevelFunctions& { return level_functions<std::remove_cvref_t<decltype(kind)>>(); },
      static_cast<const LevelVariant&>(level));
}

const IndexArray* find_array(const LevelFormat& format, const LevelArrays& level, Holds holds) {
  for (const LevelArray& array : format.arrays())
    if (array.holds == holds) return &level[array.name];
  return nullptr;
}

size_t run_length(const Format& format, size_t k) {
  size_t end = k + 1;
  while (continues_tuples(format, end)) end++;
  return end - k;
}

Cut cut_groups(const Groups& groups, std::span<const uint8_t> depth, size_t level) {
  int64_t n = int64_t(depth.size());
  int pieces = n > 100000 ? loop_threads() : 1;
  std::vector<int64_t> fresh(size_t(pieces) + 1);
#pragma omp parallel for schedule(static, 1) num_threads(pieces)
  for (int t = 0; t < pieces; t++) {
    int64_t sum = 0;
    for (int64_t e = n * t / pieces; e < n * (t + 1) / pieces; e++) sum += depth[size_t(e)] <= level;
    fresh[size_t(t) + 1] = sum;
  }
  for (int t = 0; t < pieces; t++) fresh[size_t(t) + 1] += fresh[size_t(t)];

  Cut cut;
  cut.count = fresh.back();
  cut.begin = Array<int64_t>(groups.count + 1);
  cut.begin[groups.count] = cut.count;
  if (cut.count == n) {  // every entry is a group: nothing to list
#pragma omp parallel for schedule(static) num_threads(pieces)
    for (int64_t g = 0; g < groups.count; g++) cut.begin[g] = groups.first_of(g);
    return cut;
  }
  Array<int64_t>& first = cut.first.emplace(cut.count);
#pragma omp parallel for schedule(static, 1) num_threads(pieces)
  for (int t = 0; t < pieces; t++) {
    int64_t lo = n * t / pieces, hi = n * (t + 1) / pieces, next = fresh[size_t(t)];
    // The first old group that starts here: old groups start only where new ones do.
    int64_t old =
        groups.first ? std::lower_bound(groups.first->begin(), groups.first->end(), lo) - groups.first->begin() : lo;
    for (int64_t e = lo; e < hi; e++) {
      if (depth[size_t(e)] > level) continue;
      if (old < groups.count && groups.first_of(old) == e) cut.begin[old++] = next;
      first[next++] = e;
    }
  }
  return cut;
}

void for_each_new_group(const Cut& cut, const std::function<void(int64_t, Range)>& f) {
  int pieces = cut.count > 100000 ? loop_threads() : 1;
  if (cut.count == 0) return;
#pragma omp parallel for schedule(static, 1) num_threads(pieces)
  for (int t = 0; t < pieces; t++) {
    int64_t lo = cut.count * t / pieces, hi = cut.count * (t + 1) / pieces;
    int64_t old = std::upper_bound(cut.begin.begin(), cut.begin.end(), lo) - cut.begin.begin() - 1;
    for (int64_t at = lo; at < hi; old++) {
      int64_t stop = std::min(hi, cut.begin[old + 1]);
      if (at < stop) f(old, {at, stop});
      at = std::max(at, stop);
    }
  }
}

}  // namespace spdistal
