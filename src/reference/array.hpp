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
  /// Which elements are not stored, by position, where that is known; empty: all are. They are zero, and a product with
  /// one is not computed: it is zero even where the other factor is infinite or no number.
  std::vector<bool> absent = {};

  /// All zeros.
  DenseArray(ScalarType type, std::vector<int64_t> dims);
  Scalar& at(const std::vector<int64_t>& coordinates);
  const Scalar& at(const std::vector<int64_t>& coordinates) const;

  size_t position(const std::vector<int64_t>& coordinates) const;

  /// Equal in type, sizes and values; 0 equals -0, and NaN equals NaN. What is not stored is zero.
  bool operator==(const DenseArray& other) const;
};

using Arrays = std::map<notation::TensorVar, DenseArray>;

}  // namespace spdistal::reference
