// Folding of the trivial: operations on literals and identities that are exact for every value of the type. For floats
// these are few: x * 1, x / 1, x - 0; neither x * 0 (NaN) nor x + 0 (-0).
#pragma once
#include "ir/nodes.hpp"

namespace spdistal::ir {

/// An equal expression, simpler at the root where it can be; children are taken as they are.
Expr fold(const Binary& n);
Expr fold(const Unary& n);
Expr fold(const Cast& n);
Expr fold(const Select& n);

}  // namespace spdistal::ir
