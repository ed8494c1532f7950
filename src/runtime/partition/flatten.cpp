#include "runtime/partition/flatten.hpp"

#include "base/require.hpp"

namespace spdistal::runtime {
namespace {

int64_t times(int64_t a, int64_t b) {
  int64_t product;
  require(!__builtin_mul_overflow(a, b, &product), "positions of dense levels fit 63 bits");
  return product;
}

}  // namespace

Space expand(const Space& parents, int64_t extent) {
  if (extent == 0) return Space(1);
  std::vector<Range> intervals;
  for (const Range& interval : parents.sides())
    intervals.push_back({times(interval.lo, extent), times(interval.hi, extent)});
  return Space::from_canonical(1, std::move(intervals));
}

Space contract(const Space& positions, int64_t extent) {
  std::vector<Range> intervals;
  for (const Range& interval : positions.sides())
    intervals.push_back({interval.lo / extent, (interval.hi - 1) / extent + 1});
  return Space::from_intervals(std::move(intervals));
}

Space flatten(const Space& set, const Rect& box) {
  if (set.empty()) return Space(1);
  if (box.dims() == 0) return Space::interval(0, 1);
  require(box.volume_or_max() < INT64_MAX, "positions of dense levels fit 63 bits");
  size_t dims = size_t(box.dims());
  std::vector<Range> intervals;
  for_each_rect(set, [&](std::span<const Range> rect) {
    // The trailing dimensions that a rectangle fills are one run with the one before them.
    size_t whole = dims;
    while (whole > 1 && rect[whole - 1] == box.sides()[whole - 1]) whole--;
    int64_t run = 1;
    for (size_t k = whole; k < dims; k++) run *= rect[k].size();
    for_each_row(rect.first(whole), [&](std::span<const int64_t> at, int64_t length) {
      int64_t number = 0;
      for (size_t k = 0; k < whole; k++) number = number * box[int(k)].size() + (at[k] - box[int(k)].lo);
      intervals.push_back({number * run, (number + length) * run});
    });
  });
  return Space::from_intervals(std::move(intervals));
}

Partition expand(const Partition& parents, int64_t extent) {
  return map_pieces(parents, expand(parents.universe(), extent),
                    [&](int64_t, const Space& piece) { return expand(piece, extent); });
}
Partition contract(const Partition& positions, int64_t extent) {
  return map_pieces(positions, contract(positions.universe(), extent),
                    [&](int64_t, const Space& piece) { return contract(piece, extent); });
}
Partition flatten(const Partition& p, const Rect& box) {
  return map_pieces(p, flatten(p.universe(), box), [&](int64_t, const Space& piece) { return flatten(piece, box); });
}

}  // namespace spdistal::runtime
