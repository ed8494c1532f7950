#include "runtime/partition/preimage.hpp"

#include <algorithm>

namespace spdistal::runtime {

template <class I>
Space preimage(const Space& positions, const LocalPos<I>& pos) {
  std::vector<Range> intervals;
  Space here = positions & Space::interval(pos.positions().lo, pos.positions().hi);
  auto parent_of = [&](int64_t position) {
    auto after = std::ranges::upper_bound(pos.entries, I(position - pos.first_position));
    return pos.first_parent + (after - pos.entries.begin()) - 1;
  };
  for (const Range& interval : here.sides()) {
    // From the first to the last that it meets, all but those that have no positions.
    int64_t from = parent_of(interval.lo), end = parent_of(interval.hi - 1) + 1;
    for (int64_t p = from; p < end; p++)
      if (pos.begin(p) == pos.end(p)) {
        intervals.push_back({from, p});
        from = p + 1;
      }
    intervals.push_back({from, end});
  }
  return Space::from_intervals(std::move(intervals));
}

template <class I>
Partition preimage(const Partition& positions, const Space& parents, const LocalPos<I>& pos) {
  return map_pieces(positions, parents, [&](int64_t, const Space& piece) { return parents & preimage(piece, pos); });
}

template Space preimage(const Space&, const LocalPos<int32_t>&);
template Space preimage(const Space&, const LocalPos<int64_t>&);
template Partition preimage(const Partition&, const Space&, const LocalPos<int32_t>&);
template Partition preimage(const Partition&, const Space&, const LocalPos<int64_t>&);

}  // namespace spdistal::runtime
