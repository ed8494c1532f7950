// Dense arrays of scalars of one type.
#pragma once
#include <cstdint>
#include <map>
#include <vector>

#include "notation/tensor_var.hpp"
#include "spdistal/scalar.hpp"

namespace spdistal::reference {

struct Array {
  ScalarType type;
  std::vector<int64_t> dims;
  std::vector<Scalar> values;  // the last dimension fastest

  /// All zeros.
  Array(ScalarType type, std::vector<int64_t> dims);
  Scalar& at(const std::vector<int64_t>& coordinates);
  const Scalar& at(const std::vector<int64_t>& coordinates) const;

  /// Equal in type, sizes and values; 0 equals -0, and NaN equals NaN.
  bool operator==(const Array& other) const;
};

using Arrays = std::map<notation::TensorVar, Array>;

}  // namespace spdistal::reference
