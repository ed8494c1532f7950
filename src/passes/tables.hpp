// Inside the mapping of kernels to grids: an item that gathers a row in a workspace takes a warp, and a table.
//
//   for p in lo .. hi                      for first in lo .. hi by 32
//     if marks[j]: w[j] += …                 p = first + lane
//     else: marks[j] = true          →       claim a place of the table for j; sums[place] += …
//           list[count] = j                  list j where the place was free
//           w[j] = …; count++
//   sort list[0 .. count]                  sort list[0 .. count], by all lanes
//   for p in 0 .. count                    for p in lane .. count by 32
//     A[at] = w[list[p]]; at++               A[at + p] = sums[place of list[p]]
//
// The table is in shared memory and has room for rows that are not much longer than usual. Items with longer ones come to a
// second grid, in which a block takes an item: it has a place for every coordinate, in memory of the device, and goes through all
// of them in order in the place of sorting a list.
#pragma once
#include <optional>

#include "passes/grid.hpp"

namespace spdistal::passes {

struct TableGrids {
  ir::Grid near;   // all items: those that it leaves have a 1 in `left`
  ir::Var left;    // int64: zeros before, an element for each item
  ir::Grid far;    // the items that stand in `queue`
  ir::Var queue;   // int64
  ir::Var queued;  // int64: how many
};
/// Nothing where items gather no row, or do more with it than to list it.
std::optional<TableGrids> table_grids(const ParallelRegion& region, const std::string& name,
                                      const GridMapping& mapping);

}  // namespace spdistal::passes
