// A concrete statement, executed loop by loop as it stands: the meaning of foralls, wheres, relations between variables
// and positions. Tags (parallel, distributed, …) do not change it.
#pragma once
#include <map>
#include <vector>

#include "notation/concrete.hpp"
#include "reference/array.hpp"

namespace spdistal::reference {

/// Writes the result into arrays; reads of the result see what it held before. A tensor stores, as far as position loops
/// ask, every coordinate of a level that counts places and the coordinates with something non-zero below of any other. Loops
/// that are given a value have that one alone. Returns which elements of the result have nothing but what is not there, by position.
std::vector<bool> execute(const notation::ConcreteStatement& statement, Arrays& arrays,
                          const std::map<IndexVar, int64_t>& turns = {});

}  // namespace spdistal::reference
