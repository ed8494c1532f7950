// Inside of tables: items that gather a row in a workspace, found in the loops of a kernel.
#pragma once
#include <optional>
#include <vector>

#include "passes/grid.hpp"

namespace spdistal::passes {

/// A coordinate that is touched: what is there is added to; what is not is listed.
struct WorkspaceTouch {
  ir::Var marks, list, count;
  std::optional<ir::Var> values;
  ir::Expr coordinate;
  std::optional<ir::Expr> value;
};

/// What an If says, where it touches.
std::optional<WorkspaceTouch> touch_of(const ir::If& n);
std::vector<WorkspaceTouch> touches_of(const ir::Stmt& s);

/// An item: what gathers, the loop over what was gathered, and what is around them.
struct Gathering {
  WorkspaceTouch arrays;  // of all touches; where and what differ
  std::vector<ir::Stmt> before, after;
  std::optional<ir::For> listing;
  std::optional<ir::Var> cursor;  // goes up with every turn of it

  bool mentions(const ir::Stmt& s) const;
  /// Does the loop over the list read values of the workspace; does it store anything?
  bool reads_values() const;
  bool stores() const;
};
std::optional<Gathering> gathering_of(const ParallelRegion& region);

/// The innermost loop around a touch: its turns do nothing else.
bool is_touching(const ir::For& n);
/// A loop around one that touches, of which it says nothing but where that begins and ends.
bool is_pair(const ir::For& n);

}  // namespace spdistal::passes
