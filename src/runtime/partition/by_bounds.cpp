#include "runtime/partition/by_bounds.hpp"

#include "base/require.hpp"

namespace spdistal::runtime {

Partition by_bounds(const ColourGrid& grid, const Space& universe, std::span<const Rect> bounds) {
  require(int64_t(bounds.size()) == grid.count(), "there are bounds for each colour");
  std::vector<Space> pieces;
  for (const Rect& box : bounds) pieces.push_back(universe & Space(box));
  return Partition(grid, universe, std::move(pieces));
}

}  // namespace spdistal::runtime
