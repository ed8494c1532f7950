// Tensors as messages about their memory name them.
#pragma once
#include <string>

#include "notation/tensor_var.hpp"

namespace spdistal {

/// "B (1000 x 1000, double, ds)"; "?" for a size that is not known yet.
std::string described(const notation::TensorVar& tensor);

}  // namespace spdistal
