// Putting entries in order.
#pragma once
#include <span>

#include "tensor/coordinates.hpp"

namespace spdistal {

/// The entries in the lexicographic order of dimensions mode_order[0], mode_order[1], …, each coordinate once:
/// duplicates are put together as `merging` says, in the order in which they were inserted. Coordinates must have passed `check`.
Coordinates sort_and_merge(Coordinates entries, std::span<const int> mode_order);

}  // namespace spdistal
