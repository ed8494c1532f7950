// Random formats, and dense arrays as tensors in any format and back.
#pragma once
#include <random>

#include "notation/tensor_var.hpp"
#include "reference/array.hpp"
#include "tensor/storage.hpp"

namespace spdistal::test {

/// Any stack of levels in any order of dimensions.
Format draw_format(std::mt19937_64& random, size_t order);

/// Small whole numbers in all elements of a dense tensor, in one of two to five of others.
reference::Array draw_array(std::mt19937_64& random, const notation::TensorVar& tensor);

/// The non-zeros of an array (all elements, where every level is dense), stored in a format.
Storage to_storage(const reference::Array& array, const Format& format);
reference::Array to_array(const Storage& storage);

}  // namespace spdistal::test
