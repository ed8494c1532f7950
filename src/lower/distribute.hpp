// Concrete notation -> plan: the distributed loops of a statement and the steps inside them (paper, section IV).
//
// The loops around the leaf are those down to the last that is distributed or fetches something. For given values of
// them, the relations of the schedule leave an interval of every variable; an access that a variable indexes is cut by it
// (affine), one whose positions are dealt out is cut by those (split), others follow from the coordinates that occur in
// the pieces they are multiplied with (gather), or are needed whole (replicate).
#pragma once
#include "plan/plan.hpp"

namespace spdistal::lower {

/// A statement without distributed loops has a plan without loops.
plan::Plan distribute(const notation::ConcreteStatement& statement);

}  // namespace spdistal::lower
