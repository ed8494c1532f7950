// Where statements have an effect, as formulas over what is stored.
#pragma once
#include <map>
#include <set>

#include "lower/context.hpp"
#include "lower/formula.hpp"
#include "lower/scope.hpp"

namespace spdistal::lower {

/// Atoms of formulas: operands by their number, workspaces from here on, in the order of the scope's temporaries.
inline constexpr int first_workspace_atom = 1 << 20;

/// Where temporaries are made.
using MadeWhere = std::map<notation::TensorVar, Formula>;

/// As a formula over the operands (and workspaces) that `atoms` names: others may be anywhere.
Formula where_active(const Context& c, const Scope& s, const notation::Stmt& stmt, const std::set<int>& atoms);
Formula where_active(const Context& c, const Scope& s, const notation::Assign& assign, const std::set<int>& atoms,
                     const MadeWhere& made = {});

}  // namespace spdistal::lower
