// Inside the mapping of kernels to grids: what neighbouring items read and write one element after the other goes through
// shared memory, which a warp fills and empties in whole lines.
//
//   item i                              B_staged[0 .. n] = B[pos[first] .. pos[last]], by all threads; wait
//     p = pos[i]; at = counts[i]        p = pos[i]; at = counts[i]
//     while …                      →    while …
//       A[at] = B[p]                      A_staged[at - counts[first]] = B_staged[p - pos[first]]
//       p = p + 1; at = at + 1            p = p + 1; at = at + 1
//                                       wait; A[counts[first] …] = A_staged[…], by all threads
//
// Elements that there is no room for are read and written where they are; where there is room for all that a block reads, nobody
// asks. What fills shared memory is read once: it is copied there while threads go on (`codegen/copies.hpp`).
#pragma once
#include <optional>

#include "passes/grid.hpp"

namespace spdistal::passes {

/// Such a grid, a thread for each item; nothing where items walk nothing, or there is no room. `average_row` tells how far they
/// walk.
std::optional<ir::Grid> staged_grid(const ParallelRegion& region, const std::string& name, double average_row);

}  // namespace spdistal::passes
