#include "runtime/partition/by_value_set.hpp"

#include <algorithm>

#include "base/require.hpp"

namespace spdistal::runtime {
namespace {

/// Membership by one bit per coordinate where that is small, by search where it is not.
class Members {
 public:
  Members(const Space& set, size_t questions) : set_(set), hull_(set.empty() ? Range{} : set.bounding()[0]) {
    if (set.is_rect() || width(hull_) > 64 * (questions + set.rect_count())) return;
    bits_.resize(size_t(width(hull_)));
    for (const Range& interval : set.sides())
      std::fill(bits_.begin() + (interval.lo - hull_.lo), bits_.begin() + (interval.hi - hull_.lo), true);
  }
  bool contain(int64_t x) const {
    if (!hull_.contains(x)) return false;
    if (set_.is_rect()) return true;
    return bits_.empty() ? set_.contains(x) : bits_[size_t(x - hull_.lo)];
  }

 private:
  const Space& set_;
  Range hull_;
  std::vector<bool> bits_;
};

}  // namespace

template <class I>
Partition by_value_set(const Partition& coordinates, const Space& positions, const LocalCrd<I>& crd) {
  require(coordinates.dims() == 1, "coordinates of one level are numbers");
  return map_pieces(coordinates, positions, [&](int64_t, const Space& wanted) {
    Members members(wanted, crd.values.size());
    std::vector<Range> intervals;
    int64_t position = crd.first_position;
    for (I value : crd.values) {
      if (members.contain(int64_t(value))) {
        if (!intervals.empty() && intervals.back().hi == position) intervals.back().hi++;
        else intervals.push_back({position, position + 1});
      }
      position++;
    }
    return positions & Space::from_canonical(1, std::move(intervals));
  });
}

template Partition by_value_set(const Partition&, const Space&, const LocalCrd<int32_t>&);
template Partition by_value_set(const Partition&, const Space&, const LocalCrd<int64_t>&);

}  // namespace spdistal::runtime
