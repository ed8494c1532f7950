// Which coordinates the loops of a leaf come to: a routine takes all of a range of each variable, and of nothing else.
#pragma once
#include <vector>

#include "notation/provenance.hpp"

namespace spdistal::routine {

/// Are the values of a variable a range, for given values of the loops around, whatever those of other variables are? Not those of
/// a loop that takes every fourth, nor of variables of which a part of the fused ones or of the stored positions is taken.
bool is_range(const notation::Provenance& provenance, const IndexVar& var, const std::vector<IndexVar>& around);

}  // namespace spdistal::routine
