// Random formats, and dense arrays as tensors in any format and back.
#pragma once
#include <random>

#include "reference/array.hpp"
#include "tensor/storage.hpp"

namespace spdistal::test {

/// Any stack of levels in any order of dimensions.
Format draw_format(std::mt19937_64& random, size_t order);

/// The non-zeros of an array (all elements, where every level is dense), stored in a format.
Storage to_storage(const reference::Array& array, const Format& format);
reference::Array to_array(const Storage& storage);

}  // namespace spdistal::test
