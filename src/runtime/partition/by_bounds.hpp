// Partition by bounds:  P[c] = U ∩ bounds[c]
//
//   U       0 1 2 3 4 5 6 7      bounds: [0,3) [3,6) [6,9)
//   colour  a a a b b b c c
#pragma once
#include "runtime/partition/partition.hpp"

namespace spdistal::runtime {

/// One rectangle for each colour of the grid.
Partition by_bounds(const ColourGrid& grid, const Space& universe, std::span<const Rect> bounds);

/// Blocks of a rectangle:  P[c] = { x ∈ box : ∀ k: x_dims[k] ∈ block(n_dims[k], grid_k, c_k) }
/// where n_d is the extent along d. Grid dimension k divides dimension dims[k] of the box; -1 divides none, so that
/// all colours along k have the same piece.
Partition by_blocks(const ColourGrid& grid, const Rect& box, std::span<const int> dims);

}  // namespace spdistal::runtime
