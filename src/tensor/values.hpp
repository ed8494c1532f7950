// What all parts of tensors do with single values of any element type.
#pragma once
#include <cmath>
#include <type_traits>
#include <utility>

#include "base/convert.hpp"
#include "spdistal/scalar_type.hpp"

namespace spdistal {

/// How duplicates are put together: sums; bool: or.
template <class T>
T merged(T a, T b) {
  if constexpr (std::is_same_v<T, bool>) return a || b;
  else if constexpr (std::is_integral_v<T>)  // wraps, where overflow would be undefined
    return T(std::make_unsigned_t<T>(a) + std::make_unsigned_t<T>(b));
  else return a + b;
}

/// Whether a type can hold a number: an integer type whole numbers of its range, a float type all but those so large that
/// they would become infinite (it rounds), bool any (it holds whether it is zero), a real type no imaginary part.
template <class To, class From>
bool fits(From value) {
  if constexpr (std::is_same_v<To, From> || std::is_same_v<To, bool>) {
    return true;
  } else if constexpr (is_complex_type<To>) {
    using Part = typename To::value_type;
    if constexpr (is_complex_type<From>) return fits<Part>(value.real()) && fits<Part>(value.imag());
    else return fits<Part>(value);
  } else if constexpr (is_complex_type<From>) {
    return value.imag() == 0 && fits<To>(value.real());
  } else if constexpr (std::is_floating_point_v<To>) {
    return !std::isinf(To(value)) || std::isinf(double(value));
  } else if constexpr (std::is_floating_point_v<From>) {
    // 2^31 and 2^63 are floats exactly; the maxima themselves are not.
    constexpr From bound = From(uint64_t(1) << (sizeof(To) * 8 - 1));
    return value >= -bound && value < bound && value == std::trunc(value);
  } else {
    return std::in_range<To>(int64_t(value));
  }
}

}  // namespace spdistal
