// Tensors as messages name them.
#pragma once
#include <string>

#include "notation/tensor_var.hpp"

namespace spdistal {

/// The name of a tensor in errors.
std::string shown(const notation::TensorVar& tensor);

/// "B (1000 x 1000, double, ds)"; "?" for a size that is not known yet.
std::string described(const notation::TensorVar& tensor);

}  // namespace spdistal
