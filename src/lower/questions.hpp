// Questions to the statement that is lowered, whatever was emitted of it so far.
#pragma once
#include <vector>

#include "lower/context.hpp"

namespace spdistal::lower {

// ---- loops and the result ----
/// Are loops parallelized over units of a GPU?
bool is_for_gpu(const Context& c);
bool holds_result(const Context& c, const notation::Stmt& stmt);
bool indexes_result(const Context& c, const IndexVar& var);
/// Does no coordinate of the result come from a loop's variable?
bool is_reduction(const Context& c, const IndexVar& var);
/// Do several values of a loop's variable lead to the same element?
bool revisits(const Context& c, const IndexVar& var);
int assignments_of_result(const Context& c, const notation::Stmt& stmt);
bool assigned_once(const Context& c);
/// The directly nested and consumer-side loops down to the assignment of the result.
std::vector<notation::Forall> loops_to_result(const Context& c);

// ---- variables ----
bool depends_on_outer(const Context& c, const IndexVar& var);
/// May the loops around the kernel alone lead beyond a variable's size, or to a position without an element: with nothing to do?
bool outer_may_lie_beyond(const Context& c);
/// Does the number of values of a variable change with those of others, as that of the positions of a row does?
bool size_varies(const Context& c, const IndexVar& var);
/// Does the kernel come to every value of a variable, whatever the operands store?
bool visits_whole_range(const Context& c, const IndexVar& var);

}  // namespace spdistal::lower
