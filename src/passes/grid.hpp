// Inside the mapping of kernels to grids: one parallel loop as one grid.
#pragma once
#include <functional>
#include <set>

#include "ir/launches.hpp"
#include "passes/launches.hpp"

namespace spdistal::passes {

/// The body for every value of `item` in [0, count), all at once. `setup` is what each worker allocates for itself.
struct ParallelRegion {
  ir::Var item;
  ir::Expr count;
  std::vector<ir::Stmt> setup;
  ir::Stmt body;
  std::set<Symbol> ascending = {};  // arrays whose elements ascend
};
/// Requires: the body assigns no variable from outside; sizes of its arrays are known to the host.
ir::Grid grid_of(const ParallelRegion& region, const std::string& name, const GridMapping& mapping);
/// All of a statement by one thread; variables from outside that it assigns have their new values behind it.
ir::Grid alone(const ir::Stmt& stmt, const std::string& name);

/// A grid around what each thread of its blocks does.
ir::Stmt blocks_of_threads(const ir::Var& blocks, int threads,
                           const std::function<ir::Stmt(const ir::Var& block, const ir::Var& thread)>& f);
/// The function of a grid, with its parameters.
ir::Function function_of(const std::string& name, const ir::Stmt& body);

/// Puts constants that a statement declares into an expression of them, until none is left.
ir::Expr expanded(ir::Expr e, const ir::Stmt& scope);

}  // namespace spdistal::passes
