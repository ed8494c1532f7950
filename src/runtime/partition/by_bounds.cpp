#include "runtime/partition/by_bounds.hpp"

#include "base/require.hpp"

namespace spdistal::runtime {

Partition by_bounds(const ColourGrid& grid, const Space& universe, std::span<const Rect> bounds) {
  require(int64_t(bounds.size()) == grid.count(), "there are bounds for each colour");
  std::vector<Space> pieces;
  for (const Rect& box : bounds) pieces.push_back(universe & Space(box));
  return Partition(grid, universe, std::move(pieces));
}

Partition by_blocks(const ColourGrid& grid, const Rect& box, std::span<const int> dims) {
  require(int(dims.size()) == grid.order(), "each dimension of the grid says what it divides");
  std::vector<Space> pieces;
  for (int64_t c = 0; c < grid.count(); c++) {
    std::vector<int64_t> point = grid.point_of(c);
    Rect piece = box;
    for (size_t k = 0; k < dims.size(); k++) {
      if (dims[k] < 0) continue;
      Range side = box[dims[k]], part = block(side.size(), grid.extents()[k], point[k]);
      piece.set(dims[k], common(piece[dims[k]], Range{side.lo + part.lo, side.lo + part.hi}));
    }
    pieces.emplace_back(piece);
  }
  return Partition(grid, Space(box), std::move(pieces));
}

}  // namespace spdistal::runtime
