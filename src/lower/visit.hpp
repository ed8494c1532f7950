// Statements, from the outside in.
#pragma once
#include "lower/context.hpp"
#include "lower/scope.hpp"

namespace spdistal::lower {

void visit(Context& c, const Scope& s, const notation::Stmt& stmt);

}  // namespace spdistal::lower
