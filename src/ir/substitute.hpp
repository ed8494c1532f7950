// Replacing variables in trees, and copying trees with variables of their own.
#pragma once
#include <map>

#include "ir/nodes.hpp"

namespace spdistal::ir {

/// Puts expressions in the place of variables that are read (not of arrays, nor of what is declared or assigned).
Expr substitute(const Expr& e, const std::map<Symbol, Expr>& by);
Stmt substitute(const Stmt& s, const std::map<Symbol, Expr>& by);

/// Other symbols in the place of these, wherever they stand: variables and arrays, declared, read and changed.
Stmt renamed(const Stmt& s, const std::map<Symbol, Symbol>& names);

/// A copy whose every declared variable (also of loops and allocations) is a new one of the same name.
Stmt with_fresh_variables(const Stmt& s);

}  // namespace spdistal::ir
