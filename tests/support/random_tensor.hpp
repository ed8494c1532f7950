// Random formats, and dense arrays as tensors in any format and back, and as text.
#pragma once
#include <random>
#include <string>

#include "notation/tensor_var.hpp"
#include "reference/array.hpp"
#include "tensor/storage.hpp"

namespace spdistal::test {

/// Any stack of levels of the registry in any order of dimensions; at times as that of blocks, whose levels inside are dense.
Format draw_format(std::mt19937_64& random, size_t order);

/// Small whole numbers in all elements of a dense tensor, in one of two to five of others.
reference::DenseArray draw_array(std::mt19937_64& random, const notation::TensorVar& tensor);

/// What an array stores, in a format: the elements that are not absent, or the non-zeros where it does not say; all of
/// them, where every level is dense.
Storage to_storage(const reference::DenseArray& array, const Format& format);
/// All elements; those without a position are absent.
reference::DenseArray to_array(const Storage& storage);
/// The values, one after the other.
std::string shown(const reference::DenseArray& array);

}  // namespace spdistal::test
