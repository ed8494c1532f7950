// Accesses and their levels: where the coordinates below a position are, and what position a coordinate has.
#pragma once
#include <optional>

#include "lower/context.hpp"
#include "lower/scope.hpp"

namespace spdistal::lower {

bool at_end(const Context& c, const Scope& s, int operand);
/// Of the next level of an operand: what indexes it, and what it can do.
const IndexVar& level_index(const Context& c, const Scope& s, int operand);
/// The window that indexes it; none where that is a variable.
const Window* window_at(const Context& c, const Scope& s, int operand);
const KernelFunctions& next_functions(const Context& c, const Scope& s, int operand);
/// The operands whose next level is over a variable, or a window of it.
std::vector<int> operands_over(const Context& c, const Scope& s, const IndexVar& var);

/// The positions of the next level below where an operand is, the value of the variable over it at one of them, and the
/// first of a segment at or after a value. Of a window there are positions whose coordinates it leaves out: those before
/// and after the values of the variable, and between strides.
Segment segment(Context& c, const Scope& s, int operand);
ir::Expr coordinate(Context& c, const Scope& s, int operand, const ir::Expr& position);
ir::Expr seek(Context& c, const Scope& s, int operand, const Segment& range, const ir::Expr& value);
/// Whether a window with strides takes the coordinate at a position; none where nothing lies between strides.
std::optional<ir::Expr> is_on_stride(Context& c, const Scope& s, int operand, const ir::Expr& position);

/// An operand goes to a position of the next level. Where equal coordinates stand side by side, all of them are taken together.
/// Where it may not be stored there, that it or others are was known of the level above, and says nothing any more.
void enter(Context& c, Scope& s, int operand, const ir::Expr& position, std::optional<ir::Expr> present,
           const ir::Expr& segment_end);
/// Goes down levels whose variables are known.
Scope settled(Context& c, Scope s);

}  // namespace spdistal::lower
