// Matrices of which a file has one triangle.
#pragma once
#include <cstdint>

#include "tensor/coordinates.hpp"

namespace spdistal {

enum class Symmetry : uint8_t { General, Symmetric, Skew, Hermitian };

/// Each entry off the diagonal stands for two: the others follow those that are there. `symmetry` is not General.
Coordinates mirror(Symmetry symmetry, Coordinates entries);

}  // namespace spdistal
