// Tensor distribution notation as a scheduled statement (paper, section V.C): the tensor is copied onto itself by loops
// that are divided and distributed as its distribution says. What the compiler knows of computations then places data.
//
//   B(x,y) -> M(x)        forall xo in M.x: distribute, communicate {B}
//                           forall xi in ceil(|x| / M.x)
//                             with x = xo * ceil(|x| / M.x) + xi < |x|
//                             forall y
//                               B(x,y) = B(x,y)
#pragma once
#include <vector>

#include "notation/concrete.hpp"
#include "spdistal/schedule/commands.hpp"

namespace spdistal::schedule {

struct PlacedTensor {
  notation::ConcreteStatement initial;
  std::vector<Command> commands;
  notation::ConcreteStatement scheduled;
};

/// Requires a tensor whose format has a distribution.
PlacedTensor place(const notation::TensorVar& tensor);

}  // namespace spdistal::schedule
