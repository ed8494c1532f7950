// Temporaries of wheres: made, written and cleaned. Those with a list of what was touched are workspaces of sparse rows.
#pragma once
#include <string>

#include "lower/context.hpp"
#include "lower/scope.hpp"

namespace spdistal::lower {

void visit_where(Context& c, const Scope& s, const notation::Where& where);
void write_temporary(Context& c, const Scope& s, const notation::Assign& assign);

/// Of workspaces that may be hashed: whether they are, and how many places they have.
struct Room {
  ir::Expr hashed, places;
};
using Rooms = std::map<notation::TensorVar, Room>;
/// Says how large the workspaces of the statement that may be hashed are.
Rooms rooms_of_workspaces(Context& c, const Scope& s);
/// Allocates the workspaces of the statement. They live as long as the thread: only what was touched is cleaned.
Scope with_workspaces(Context& c, const Scope& s, const Rooms& rooms);
/// The same with arrays that stand for those, and all of the arrays in order.
Scope with_workspace_places(Context& c, const Scope& s, const Rooms& rooms);
std::vector<ir::Var> workspace_arrays(const Scope& s);
/// The place of a coordinate: its own, or the first that is free.
ir::Expr find_slot(Context& c, const Temporary& temporary, const std::string& name, const ir::Expr& coordinate);

}  // namespace spdistal::lower
