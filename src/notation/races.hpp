// Which iterations of a loop write the same element.
#pragma once
#include <optional>

#include "notation/concrete.hpp"

namespace spdistal::notation {

/// An assignment inside the loop whose element does not tell the iterations apart: several write the same one. Only
/// tensors that live outside the loop count.
std::optional<Assign> find_race(const ConcreteStatement& statement, const IndexVar& loop);

}  // namespace spdistal::notation
