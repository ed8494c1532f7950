#include "runtime/partition/by_value_ranges.hpp"

#include <algorithm>

#include "base/require.hpp"

namespace spdistal::runtime {
namespace {

/// The line cut at every bound: segment s is [cuts[s], cuts[s+1]), with the colours whose range covers it.
struct Segments {
  std::vector<int64_t> cuts;
  std::vector<std::vector<int64_t>> colours;

  explicit Segments(std::span<const Range> ranges) {
    for (const Range& range : ranges)
      if (!is_empty(range)) cuts.push_back(range.lo), cuts.push_back(range.hi);
    std::ranges::sort(cuts);
    cuts.erase(std::unique(cuts.begin(), cuts.end()), cuts.end());
    colours.resize(cuts.size());
    for (size_t c = 0; c < ranges.size(); c++) {
      if (is_empty(ranges[c])) continue;
      for (size_t s = find(ranges[c].lo); cuts[s] < ranges[c].hi; s++) colours[s].push_back(int64_t(c));
    }
  }
  /// The segment of x, or one without colours.
  size_t find(int64_t x) const {
    auto after = std::ranges::upper_bound(cuts, x);
    return after == cuts.begin() ? cuts.size() - 1 : size_t(after - cuts.begin()) - 1;
  }
};

}  // namespace

template <class I>
Partition by_value_ranges(const ColourGrid& grid, const Space& positions, std::span<const Range> ranges,
                          const LocalCrd<I>& crd) {
  require(int64_t(ranges.size()) == grid.count(), "there is a range for each colour");
  Segments segments(ranges);
  std::vector<std::vector<Range>> found(ranges.size());
  if (!segments.cuts.empty()) {
    int64_t position = crd.first_position;
    for (I value : crd.values) {
      for (int64_t c : segments.colours[segments.find(int64_t(value))]) {
        auto& intervals = found[size_t(c)];
        if (!intervals.empty() && intervals.back().hi == position) intervals.back().hi++;
        else intervals.push_back({position, position + 1});
      }
      position++;
    }
  }
  std::vector<Space> pieces;
  for (auto& intervals : found) pieces.push_back(positions & Space::from_canonical(1, std::move(intervals)));
  return Partition(grid, positions, std::move(pieces));
}

template Partition by_value_ranges(const ColourGrid&, const Space&, std::span<const Range>, const LocalCrd<int32_t>&);
template Partition by_value_ranges(const ColourGrid&, const Space&, std::span<const Range>, const LocalCrd<int64_t>&);

}  // namespace spdistal::runtime
