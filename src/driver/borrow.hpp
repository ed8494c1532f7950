// Tensors over arrays of the user: used in place, read and never written.
#pragma once
#include "tensor/home.hpp"

namespace spdistal {

/// Are values of a piece somebody else's? Whoever wants to write clones it first.
bool is_borrowed(const Home& home);

}  // namespace spdistal
