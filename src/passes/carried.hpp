// Inside the mapping of kernels to grids: what a loop carries from turn to turn.
#pragma once
#include <optional>

#include "ir/nodes.hpp"

namespace spdistal::passes {

/// How often a loop runs (int64), and its variable at the given turn.
ir::Expr turns(const ir::For& loop);
ir::Expr value_at(const ir::For& loop, const ir::Expr& turn);

bool uses_variable(const ir::Expr& e, const Symbol& symbol);

/// May the turns of a loop run in any order, all at once? They assign nothing outside, and each stores to elements that
/// no other turn comes to.
bool is_independent(const ir::For& loop);

/// The one variable that a loop carries: turns are independent but for `total = total + …` of an integer, once a turn.
struct CarriedSum {
  ir::Var total;
  size_t update;  // which of the body's statements
};
std::optional<CarriedSum> carried_sum(const ir::For& loop);

/// The same in shares: their sums, at once; what is before each; and the loop itself, from there, at once.
///
///   for p in 0 .. n                 parallel t in 0 .. shares: sums[t] = sum of here over its part of 0 .. n
///     here = pos[p]                 for t in 0 .. shares: sums[t], total = total, total + sums[t]
///     pos[p] = total           →    parallel t in 0 .. shares
///     total = total + here            own = sums[t]; for p in its part: here = pos[p]; pos[p] = own; own = own + here
///
/// There are at most so many shares; the loop over them carries a sum in turn.
std::vector<ir::Stmt> in_shares(const ir::For& loop, const CarriedSum& sum, int64_t most);

}  // namespace spdistal::passes
