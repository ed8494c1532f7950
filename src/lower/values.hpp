// Expressions of index notation and of index variables, as kernel IR.
#pragma once
#include <optional>
#include <vector>

#include "lower/context.hpp"
#include "lower/scope.hpp"

namespace spdistal::lower {

ir::Expr value(Context& c, const Scope& s, const notation::Expr& expr);

/// The value of a formula of index variables, and how many values a variable has.
ir::Expr index(Context& c, const Scope& s, const notation::IndexExpr& expr);
ir::Expr size(Context& c, const Scope& s, const IndexVar& var);
/// A divisor, also where there is nothing to divide.
ir::Expr nonzero(const ir::Expr& size);

/// A bool: has the expression a value of its own here, or is it this one where nothing is stored?
ir::Expr is_there(Context& c, const Scope& s, const notation::Expr& expr, const Scalar& nothing);

/// Where the element of a temporary stands that variables name.
ir::Expr temporary_position(const Scope& s, const Temporary& temporary, const std::vector<IndexVar>& indices);

}  // namespace spdistal::lower
