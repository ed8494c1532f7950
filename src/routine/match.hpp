// Do loops compute what a routine does? Up to the names of tensors and variables, the order of factors and terms, and, of tensors that
// are dense in any order, the order of their dimensions: A(j,i) = C(j,k) * B(k,i) is a product of matrices like any other.
#pragma once
#include <string_view>
#include <vector>

#include "notation/concrete.hpp"
#include "routine/registry.hpp"
#include "spdistal/result.hpp"

namespace spdistal::routine {

/// What takes the place of a routine's tensor.
struct MatchedTensor {
  notation::Access access;
  std::vector<size_t> levels;  // of the access: the one that is level k of the routine's tensor
};

struct RoutineMatch {
  RoutineHandle routine;
  notation::AssignOp operation;        // by which values of the result are put together
  std::vector<MatchedTensor> tensors;  // in the order of the routine's: the result first
};

/// The first routine of a name that a nest of loops fits. Refuses with what differs, and a hint that tells what the routines of that
/// name expect.
Result<RoutineMatch> match(std::string_view name, const notation::Stmt& nest);

/// The loop that a routine replaces; null where there is none.
const notation::Forall* find_substituted(const notation::Stmt& body);

}  // namespace spdistal::routine
