// One value of any element type.
#pragma once
#include <complex>
#include <concepts>
#include <cstdint>
#include <variant>

#include "spdistal/scalar_type.hpp"

namespace spdistal {

using ScalarVariant = std::variant<bool, int32_t, int64_t, float, double, std::complex<float>, std::complex<double>>;

/// A typed number: the alternatives are in the order of ScalarType. Equality is of type and bits, so that
/// 0.0 differs from -0.0, and any NaN equals any other.
class Scalar : public ScalarVariant {
 public:
  Scalar() : ScalarVariant(0.0) {}
  template <class T>
    requires(std::same_as<T, bool> || std::floating_point<T> || (std::signed_integral<T> && sizeof(T) >= 4))
  Scalar(T value) : ScalarVariant(std::in_place_index<size_t(scalar_type_of<T>())>, value) {}
  template <std::floating_point T>
  Scalar(std::complex<T> value) : ScalarVariant(value) {}

  ScalarType type() const { return ScalarType(index()); }
  bool operator==(const Scalar& other) const;
  size_t hash() const;
};

}  // namespace spdistal

template <>
struct std::hash<spdistal::Scalar> {
  size_t operator()(const spdistal::Scalar& s) const { return s.hash(); }
};
