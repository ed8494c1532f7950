// A number of one element type as one of another: the one definition of it, for tensors, statements and kernels.
#pragma once
#include <complex>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace spdistal {

template <class T>
inline constexpr bool is_complex_type = false;
template <class T>
inline constexpr bool is_complex_type<std::complex<T>> = true;

/// A float cut towards zero, where C++ has an answer; else the whole number that is nearest: inf is the largest of all, as it
/// is for fill values. What is no number is 0.
template <class To, class From>
To as_whole(From value) {
  // 2^31 and 2^63 are floats exactly; the largest integers are not.
  constexpr From bound = From(uint64_t(1) << (sizeof(To) * 8 - 1));
  if (value >= bound) return std::numeric_limits<To>::max();
  if (value < -bound) return std::numeric_limits<To>::min();
  return value == value ? To(value) : To(0);
}

/// As a C++ conversion, which never fails: floats become integers by `as_whole`, and bool tells whether a number is other
/// than zero. A complex number gives its real part to a real type; whoever must not lose the rest asks is_complex beforehand.
template <class To, class From>
To convert_value(From value) {
  if constexpr (is_complex_type<To>) {
    using Part = typename To::value_type;
    if constexpr (is_complex_type<From>) return To(Part(value.real()), Part(value.imag()));
    else return To(Part(value));
  } else if constexpr (std::is_same_v<To, bool>) {
    return value != From{};
  } else if constexpr (is_complex_type<From>) {
    return convert_value<To>(value.real());
  } else if constexpr (std::is_integral_v<To> && std::is_floating_point_v<From>) {
    return as_whole<To>(value);
  } else {
    return static_cast<To>(value);
  }
}

}  // namespace spdistal
