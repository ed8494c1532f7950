// Variables become known: what follows from them is found, accesses go down, levels of the result are opened.
#pragma once
#include "lower/context.hpp"
#include "lower/scope.hpp"

namespace spdistal::lower {

/// Runs `fill`, which lowers (a part of) `stmt`, where these variables are known too.
void bind_values(Context& c, const Scope& s, const notation::Stmt& stmt, const FoundValues& found, const Inside& fill);

/// Runs `fill` where the variables of the loops around the kernel are known.
void inside_outer_loops(Context& c, const Scope& s, const Inside& fill);

/// What is known before anything is emitted.
Scope outermost(const Context& c);

}  // namespace spdistal::lower
