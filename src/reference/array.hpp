// Dense arrays of scalars of one type.
#pragma once
#include <cstdint>
#include <map>
#include <vector>

#include "notation/tensor_var.hpp"
#include "spdistal/scalar.hpp"

namespace spdistal::reference {

struct DenseArray {
  ScalarType type;
  std::vector<int64_t> dims;
  std::vector<Scalar> values;  // the last dimension fastest
  /// Which elements are not stored, by position, where that is known; empty: all are. They count as the fill value of their
  /// tensor for good (`notation/element.hpp`), which is also what `values` has for them.
  std::vector<bool> absent = {};

  /// All zeros, or all of a value.
  DenseArray(ScalarType type, std::vector<int64_t> dims);
  DenseArray(const Scalar& value, std::vector<int64_t> dims);
  Scalar& at(const std::vector<int64_t>& coordinates);
  const Scalar& at(const std::vector<int64_t>& coordinates) const;

  size_t position(const std::vector<int64_t>& coordinates) const;

  /// Equal in type, sizes and values; 0 equals -0, and NaN equals NaN. What is not stored has its value, too.
  bool operator==(const DenseArray& other) const;
};

using Arrays = std::map<notation::TensorVar, DenseArray>;

}  // namespace spdistal::reference
