// Scatter into sparse results: a loop that sums stands outside the loop over the last stored dimension, so that the same
// coordinates come again and again, in any order. A workspace takes them up, and is then read in order.
//
//   forall i                              forall i
//     forall k                              where
//       forall j                              forall jw
//         A(i,j) += B(i,k) * C(k,j)     →       A(i,jw) = w(jw)
//                                           w from
//                                             forall k
//                                               forall j
//                                                 w(j) += B(i,k) * C(k,j)
#pragma once
#include "notation/concrete.hpp"

namespace spdistal::lower {

/// The statement with a workspace where one makes its result come in order; the same statement otherwise. The values of
/// the variables in `known` are given by loops around the statement.
notation::ConcreteStatement insert_workspace(const notation::ConcreteStatement& statement,
                                             const std::vector<IndexVar>& known = {});

}  // namespace spdistal::lower
