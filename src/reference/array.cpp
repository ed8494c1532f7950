#include "reference/array.hpp"

#include <algorithm>

#include "base/require.hpp"
#include "notation/arithmetic.hpp"

namespace spdistal::reference {

DenseArray::DenseArray(ScalarType t, std::vector<int64_t> d) : DenseArray(notation::zero(t), std::move(d)) {}

DenseArray::DenseArray(const Scalar& value, std::vector<int64_t> d) : type(value.type()), dims(std::move(d)) {
  size_t size = 1;
  for (int64_t n : dims) size *= size_t(n);
  values.assign(size, value);
}

size_t DenseArray::position(const std::vector<int64_t>& coordinates) const {
  size_t position = 0;
  for (size_t d = 0; d < dims.size(); d++) {
    require(coordinates[d] >= 0 && coordinates[d] < dims[d], "a coordinate lies within its dimension");
    position = position * size_t(dims[d]) + size_t(coordinates[d]);
  }
  return position;
}

Scalar& DenseArray::at(const std::vector<int64_t>& coordinates) { return values[position(coordinates)]; }

const Scalar& DenseArray::at(const std::vector<int64_t>& coordinates) const {
  return const_cast<DenseArray&>(*this).at(coordinates);
}

bool DenseArray::operator==(const DenseArray& other) const {
  return type == other.type && dims == other.dims &&
         std::equal(values.begin(), values.end(), other.values.begin(), other.values.end(), notation::same_number);
}

}  // namespace spdistal::reference
