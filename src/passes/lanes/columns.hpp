// Inside the division among lanes: the columns of a loop of known length that are a lane's. A lane takes as many
// neighbours as are loaded at once, so that a warp's loads are whole lines:
//
//   for k in 0 .. 32                        for q in 0 .. 2
//     sums[k] += b * C[offset + k]            first = (q * 8 + lane) * 2
//                                     →       C_near[0 .. 2] = C[offset + first .. + 2]
//                                             for s in 0 .. 2
//                                               k = first + s
//                                               sums[q * 2 + s] += b * C_near[s]
#pragma once
#include "ir/nodes.hpp"
#include "passes/lanes/accesses.hpp"

namespace spdistal::passes {

struct Columns {
  const ir::Stmt& item;      // that the loop is of: declares where rows begin
  const Accesses& accesses;  // of the item
  ir::Var lane;
  int width = 1;               // lanes of the group
  int near = 1;                // columns that follow each other
  std::set<Symbol> kept = {};  // arrays that were made for the lane's columns alone

  /// The turns of a loop from 0 by 1 that are the lane's; arrays that are split have the lane's elements alone.
  ir::Stmt operator()(const ir::For& loop) const;
};

/// How many neighbours lanes may take in a loop: 1 where nothing is gained by more.
int neighbours(const ir::For& loop, const Columns& columns);

}  // namespace spdistal::passes
