// Index notation -> concrete notation: reductions become loops, in an order that suits the formats.
//
//   a(i) = B(i,j) * c(j)               forall i, j: a(i) += B(i,j) * c(j)
//   a(i) = b(i) + B(i,j) * c(j)        forall i: a(i) = b(i) + t  where  t: forall j: t += B(i,j) * c(j)
#pragma once
#include "notation/concrete.hpp"
#include "spdistal/result.hpp"

namespace spdistal::notation {

/// Requires a statement that `check` accepts. Refuses where the extents of a variable differ.
Result<ConcreteStatement> concretize(const Assignment& assignment);

/// Moves sums outwards through products, negations and the upper side of quotients, which does not change the value and
/// lets all sums of a term share one nest of loops. A product of two sums stays one: its loops would multiply. A quotient
/// of integers stays too: it rounds.
Expr hoist_sums(const Expr& expr);

/// The same statement, with what may have more coordinates than its variable has values indexed by windows: beside b(i+1),
/// the b(i) of a(i) = b(i+1) - b(i). Such a window is the same as its variable but for that.
Assignment with_open_windows(const Assignment& assignment);

/// Can values be put together in the result itself? Not where each would be rounded to an integer or a truth value first.
bool reduces_in_place(AssignOp op, ScalarType result, ScalarType value);

/// An order of the variables that walks every sparse tensor along its levels where one exists: levels of sparse tensors
/// bind, in the order of the tensors; levels of dense ones are followed where nothing speaks against it. A sparse result
/// binds first, or last where all operands agree on an order in which its elements come whole, one after the other.
std::vector<IndexVar> loop_order(const Assignment& assignment);

}  // namespace spdistal::notation
