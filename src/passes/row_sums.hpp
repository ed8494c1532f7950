// Inside the mapping of kernels to grids: rows that are added up, where shares of their positions are dealt out. A block takes
// as many positions as it has room for, in the place of a share: it reads along them in whole lines, however long rows are, and
// adds up rows in shared memory, long ones by all lanes of a warp.
//
//   begin = …; end = …, of share t              p = begin + thread, begin + thread + 256, …
//   row = the one with begin in it                products[p - begin] = B[p] * c[crd[p]]
//   while pos[row] < end                        wait
//     sum = 0                                   row = first + thread, first + thread + 256, …
//     for p in max(pos[row], begin)        →      sum = 0
//           .. min(pos[row + 1], end)             for p in max(pos[row], begin) .. min(pos[row + 1], end)
//       sum = sum + B[p] * c[crd[p]]                sum = sum + products[p - begin]
//     a[row] = sum, or a[row] += sum              a[row] = sum, or a[row] += sum
//     row = row + 1
//
// Where blocks begin is looked up before, by a grid of its own.
#pragma once
#include <optional>

#include "passes/grid.hpp"

namespace spdistal::passes {

struct RowSumGrids {
  ir::Var rows;      // int64: the row that each block begins in, and the one that the last ends in
  ir::Expr blocks;   // how many there are
  ir::Grid look_up;  // fills `rows`
  ir::Grid sums;
};
/// Nothing where a share does anything else.
std::optional<RowSumGrids> row_sum_grids(const ParallelRegion& region, const std::string& name,
                                         const GridMapping& mapping);

}  // namespace spdistal::passes
