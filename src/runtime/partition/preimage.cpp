#include "runtime/partition/preimage.hpp"

#include <algorithm>

namespace spdistal::runtime {
namespace {

/// Calls f with the parents from the first to the last that each interval meets.
template <class I, class F>
void for_each_hull(const Space& positions, const LocalPos<I>& pos, F&& f) {
  Space here = positions & Space::interval(pos.positions().lo, pos.positions().hi);
  for (const Range& interval : here.sides()) {
    auto parent_of = [&](int64_t position) {
      auto after = std::ranges::upper_bound(pos.entries, I(position - pos.first_position));
      return pos.first_parent + (after - pos.entries.begin()) - 1;
    };
    f(Range{parent_of(interval.lo), parent_of(interval.hi - 1) + 1});
  }
}

}  // namespace

template <class I>
Space preimage_hull(const Space& positions, const LocalPos<I>& pos) {
  std::vector<Range> intervals;
  for_each_hull(positions, pos, [&](Range parents) { intervals.push_back(parents); });
  return Space::from_intervals(std::move(intervals));
}

template <class I>
Space preimage(const Space& positions, const LocalPos<I>& pos) {
  std::vector<Range> intervals;
  for_each_hull(positions, pos, [&](Range parents) {
    // All of them but those that have no positions.
    int64_t from = parents.lo;
    for (int64_t p = parents.lo; p < parents.hi; p++)
      if (pos.begin(p) == pos.end(p)) {
        intervals.push_back({from, p});
        from = p + 1;
      }
    intervals.push_back({from, parents.hi});
  });
  return Space::from_intervals(std::move(intervals));
}

template <class I>
Partition preimage(const Partition& positions, const Space& parents, const LocalPos<I>& pos) {
  return map_pieces(positions, parents, [&](int64_t, const Space& piece) { return parents & preimage(piece, pos); });
}
template <class I>
Partition preimage_hull(const Partition& positions, const Space& parents, const LocalPos<I>& pos) {
  return map_pieces(positions, parents,
                    [&](int64_t, const Space& piece) { return parents & preimage_hull(piece, pos); });
}

template Space preimage(const Space&, const LocalPos<int32_t>&);
template Space preimage(const Space&, const LocalPos<int64_t>&);
template Space preimage_hull(const Space&, const LocalPos<int32_t>&);
template Space preimage_hull(const Space&, const LocalPos<int64_t>&);
template Partition preimage(const Partition&, const Space&, const LocalPos<int32_t>&);
template Partition preimage(const Partition&, const Space&, const LocalPos<int64_t>&);
template Partition preimage_hull(const Partition&, const Space&, const LocalPos<int32_t>&);
template Partition preimage_hull(const Partition&, const Space&, const LocalPos<int64_t>&);

}  // namespace spdistal::runtime
