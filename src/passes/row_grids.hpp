// Inside the mapping of kernels to grids: rows that shares of their positions walk along. A block takes as many positions as it
// has room for, in the place of a share, however long rows are; the row that each block begins in is looked up before, by a grid
// of its own.
//
// Rows that are added up (`rows/sums.cpp`) are added up in shared memory, long ones by all lanes of a warp. What a block reads
// along its positions it reads in whole lines:
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
// Positions that are written one by one (`rows/apart.cpp`) are dealt out to lanes, each with its row:
//
//   while pos[row] < end                        p = begin + thread: rows_of[p - begin] = the row with p in it
//     for p in …                                wait
//       sum = 0                            →    for p in eight of the block's positions, by eight lanes
//       for k …: sum += …                         row = rows_of[p - begin]
//       A[p] = sum                                …
//
// Rows of sums (`rows/runs.cpp`) are added up position by position: a few lanes take a run of positions, know the row at hand,
// and are done with it where the next one begins. Levels between rows and positions are walked along likewise.
//
//   while pos[row] < end                        for two positions p: C_early = C[crd[p] …]
//     sums = 0                                  for each p of them
//     for p in …                                  if p >= row_end
//       for k …: sums[k] += B[p] * C[…]      →      A[row …] = sums, or += where the row is cut
//     A[row …] = sums, or A[row …] += sums          sums = 0; row = the one with p in it
//     row = row + 1                               sums[k] += B[p] * C_early[k]
//                                               A[row …] = sums, or +=
#pragma once
#include <optional>

#include "passes/grid.hpp"

namespace spdistal::passes {

struct RowGrids {
  ir::Var rows;      // int64: the row that each block begins in, and the one that the last ends in; levels below too
  ir::Expr found;    // how many numbers these are
  ir::Expr blocks;   // how many there are
  ir::Grid look_up;  // fills `rows`
  ir::Grid walk;
};
/// Nothing where a share does anything else.
std::optional<RowGrids> row_grids(const ParallelRegion& region, const std::string& name, const GridMapping& mapping);

}  // namespace spdistal::passes
