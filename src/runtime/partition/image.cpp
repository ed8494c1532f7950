#include "runtime/partition/image.hpp"

namespace spdistal::runtime {

template <class I>
Space image(const Space& parents, const LocalPos<I>& pos) {
  std::vector<Range> intervals;
  Space here = parents & Space::interval(pos.parents().lo, pos.parents().hi);
  for (const Range& interval : here.sides()) intervals.push_back({pos.begin(interval.lo), pos.begin(interval.hi)});
  return Space::from_intervals(std::move(intervals));
}

template <class I>
Partition image(const Partition& parents, const Space& positions, const LocalPos<I>& pos) {
  return map_pieces(parents, positions, [&](int64_t, const Space& piece) { return positions & image(piece, pos); });
}

template Space image(const Space&, const LocalPos<int32_t>&);
template Space image(const Space&, const LocalPos<int64_t>&);
template Partition image(const Partition&, const Space&, const LocalPos<int32_t>&);
template Partition image(const Partition&, const Space&, const LocalPos<int64_t>&);

}  // namespace spdistal::runtime
