// Inside the mapping of kernels to grids: the turns of a loop that are one thread's, and what several of them load, all at once.
#pragma once
#include "ir/nodes.hpp"

namespace spdistal::passes {

struct Stride {
  ir::Expr from;    // the thread's first turn, int64
  int by = 1;       // each turn so many behind the one before
  int at_once = 1;  // what so many turns load is asked for before any of it is used
};

/// Every `by`-th turn of a loop. Where several are asked for at once, the last is asked for again beyond the end: nothing
/// branches between loads. Loops with branches in them, and what they store to, are loaded as they are.
///
///   for p in lo .. hi                        for first in lo + lane .. hi by 6
///     sum = sum + B[p] * c[crd[p]]     →       for u in 0 .. 3
///                                                p = first + min(u * 2, hi - 1 - first)
///                                                B_ahead[u] = B[p]; crd_ahead[u] = crd[p]
///                                              for u in 0 .. 3
///                                                if u * 2 < hi - first
///                                                  sum = sum + B_ahead[u] * c[crd_ahead[u]]
ir::Stmt every_turn(const ir::For& loop, const Stride& stride);

}  // namespace spdistal::passes
