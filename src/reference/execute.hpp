// A concrete statement, executed loop by loop as it stands: the meaning of foralls, wheres, relations between variables
// and positions. Tags (parallel, distributed, …) do not change it.
#pragma once
#include "notation/concrete.hpp"
#include "reference/array.hpp"

namespace spdistal::reference {

/// Writes the result into arrays; reads of the result see what it held before. A tensor stores, as far as position loops
/// ask, every coordinate of a dense level and the coordinates with something non-zero below of any other.
void execute(const notation::ConcreteStatement& statement, Arrays& arrays);

}  // namespace spdistal::reference
