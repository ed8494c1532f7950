// Partition by bounds:  P[c] = U ∩ bounds[c]
//
//   U       0 1 2 3 4 5 6 7      bounds: [0,3) [3,6) [6,9)
//   colour  a a a b b b c c
#pragma once
#include "runtime/partition/partition.hpp"

namespace spdistal::runtime {

/// One rectangle for each colour of the grid.
Partition by_bounds(const ColourGrid& grid, const Space& universe, std::span<const Rect> bounds);

}  // namespace spdistal::runtime
