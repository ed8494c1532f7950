// Inside the division among lanes: how an item whose loops may be divided is.
#pragma once
#include "passes/lanes/columns.hpp"
#include "passes/lanes/loops.hpp"

namespace spdistal::passes {

/// An item as its lanes run it. `at_once`: of how many turns of a sum a lane loads at once.
class Divider {
 public:
  Divider(const std::vector<ir::For>& loops, const Columns& columns, int at_once);
  ir::Stmt operator()(const ir::Stmt& s);

 private:
  ir::Stmt sum(const ir::For& n);
  ir::Stmt scan(const ir::For& n);
  bool is_in_columns(const ir::For& n) const;
  Columns columns_of(const ir::For& own) const;
  /// The turns of a loop that are the lane's.
  ir::Stmt divided(const ir::For& own, const Columns& columns) const;
  /// Rows that a loop loads alike in all turns of the one around it, from arrays of the lane's own: these are filled first.
  std::vector<ir::Stmt> keep_rows(const ir::For& turns, ir::For& loop, Columns& columns) const;
  std::optional<ir::Stmt> by_turns(const ir::For& n);
  std::vector<ir::Stmt> folded(const ir::Var& parts);

  const Columns& columns_;
  int at_once_;
  std::map<Symbol, LaneLoop> divided_;
};

}  // namespace spdistal::passes
