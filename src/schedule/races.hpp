// Which iterations of a loop write the same element.
#pragma once
#include <optional>

#include "notation/concrete.hpp"

namespace spdistal::schedule {

/// An assignment inside the loop whose element does not tell the iterations apart: several write the same one. Only
/// tensors that live outside the loop count.
std::optional<notation::Assign> find_race(const notation::ConcreteStatement& statement, const IndexVar& loop);

}  // namespace spdistal::schedule
