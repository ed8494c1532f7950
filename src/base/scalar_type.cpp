#include "spdistal/scalar_type.hpp"

#include <algorithm>

namespace spdistal {

std::string_view name_of(ScalarType type) {
  constexpr std::string_view names[] = {"bool", "int32", "int64", "float", "double", "complex64", "complex128"};
  return names[size_t(type)];
}

size_t size_of(ScalarType type) {
  return with_type(type, [](auto zero) { return sizeof(zero); });
}

bool is_complex(ScalarType type) { return type >= ScalarType::Complex64; }
bool is_integral(ScalarType type) { return type <= ScalarType::Int64; }

ScalarType promote(ScalarType a, ScalarType b) {
  ScalarType low = std::max(ScalarType::Int32, std::min(a, b)), high = std::max(ScalarType::Int32, std::max(a, b));
  // double with complex<float>: neither holds the other.
  if (high == ScalarType::Complex64 && low == ScalarType::Float64) return ScalarType::Complex128;
  return high;
}

}  // namespace spdistal
