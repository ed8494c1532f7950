// Inside the division among lanes: how an item whose loops may be divided is.
#pragma once
#include "passes/lanes/columns.hpp"
#include "passes/lanes/loops.hpp"

namespace spdistal::passes {

/// How turns of sums are taken: of how many a lane loads at once, and whether lanes mostly have one each.
struct SumTurns {
  int at_once = 1;
  bool full = false;
};

/// An item as its lanes run it.
class Divider {
 public:
  Divider(const std::vector<ir::For>& loops, const Columns& columns, const SumTurns& turns);
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
  SumTurns turns_;
  std::map<Symbol, LaneLoop> divided_;
};

}  // namespace spdistal::passes
