// Numbers in text, fast. Each reader takes [p, end), reads as much as is a number and returns the place behind it, or
// null where there is none; nothing is skipped before it.
#pragma once
#include <bit>
#include <charconv>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "memory/copy.hpp"

namespace spdistal {

inline bool is_digit(char c) { return unsigned(c) - '0' < 10; }

/// A positive integer of at most 2^63 - 1. Larger ones are null too: the caller sees the digits.
inline const char* read_index(const char* p, const char* end, uint64_t& out) {
  const char* start = p;
  uint64_t value = 0;
  while (p < end && is_digit(*p)) value = value * 10 + uint64_t(*p++ - '0');
  if (p == start) return nullptr;
  if (p - start > 18) {
    auto [stop, error] = std::from_chars(start, end, value);
    if (error != std::errc{} || value > uint64_t(INT64_MAX)) return nullptr;
  }
  out = value;
  return p;
}

inline const char* read_integer(const char* p, const char* end, int64_t& out) {
  if (p < end && *p == '+') {
    p++;
    if (p == end || !is_digit(*p)) return nullptr;
  }
  auto [stop, error] = std::from_chars(p, end, out);
  return error == std::errc{} ? stop : nullptr;
}

/// mantissa * 10^exponent rounded to the nearest T, where that is cheap to do right; |exponent| <= 27.
///
/// Both factors are exact in an 80-bit float, so that one operation gives the result within half a unit of its 64-bit
/// significand. Rounding that once more goes wrong only where it lies exactly between two T: then the answer is no.
template <class T>
bool scale_by_ten(uint64_t mantissa, int64_t exponent, T& out) {
  static constexpr long double powers[] = {1e0L,  1e1L,  1e2L,  1e3L,  1e4L,  1e5L,  1e6L,  1e7L,  1e8L,  1e9L,
                                           1e10L, 1e11L, 1e12L, 1e13L, 1e14L, 1e15L, 1e16L, 1e17L, 1e18L, 1e19L,
                                           1e20L, 1e21L, 1e22L, 1e23L, 1e24L, 1e25L, 1e26L, 1e27L};
  if constexpr (std::numeric_limits<long double>::digits != 64 || std::endian::native != std::endian::little) {
    return false;
  } else {
    long double value = static_cast<long double>(mantissa);
    value = exponent < 0 ? value / powers[-exponent] : value * powers[exponent];
    uint64_t significand;
    memory::copy_bytes(&significand, &value, sizeof significand);
    constexpr int extra = 64 - std::numeric_limits<T>::digits;
    out = T(value);
    return (significand & ((uint64_t(1) << extra) - 1)) != uint64_t(1) << (extra - 1) &&
           out <= std::numeric_limits<T>::max();
  }
}

/// A float or double as C would read it in decimal, inf and nan included, rounded correctly. A number too large for the
/// type is null, one too small is zero.
template <class T>
const char* read_real(const char* p, const char* end, T& out) {
  const char* start = p;
  bool negative = p < end && *p == '-';
  if (p < end && (*p == '-' || *p == '+')) p++;
  const char* digits_start = p;
  uint64_t mantissa = 0;
  while (p < end && is_digit(*p)) mantissa = mantissa * 10 + uint64_t(*p++ - '0');
  int64_t digits = p - digits_start, exponent = 0;
  if (p < end && *p == '.') {
    const char* fraction = ++p;
    while (p < end && is_digit(*p)) mantissa = mantissa * 10 + uint64_t(*p++ - '0');
    exponent = fraction - p;
    digits -= exponent;
  }
  if (digits > 0 && p < end && (*p == 'e' || *p == 'E')) {
    const char* q = p + 1;
    bool down = q < end && *q == '-';
    if (q < end && (*q == '-' || *q == '+')) q++;
    int64_t value = 0;
    const char* first = q;
    while (q < end && is_digit(*q)) {
      if (value < 100000) value = value * 10 + (*q - '0');
      q++;
    }
    if (q > first) exponent += down ? -value : value, p = q;
  }
  // 19 digits fit 64 bits; leading zeros make it look longer than it is, which costs time only.
  if (digits > 0 && digits <= 19 && exponent >= -27 && exponent <= 27 && scale_by_ten(mantissa, exponent, out)) {
    if (negative) out = -out;
    return p;
  }
  if (start < end && *start == '+') {
    start++;
    if (start < end && *start == '-') return nullptr;
  }
  auto [stop, error] = std::from_chars(start, end, out);
  if (error == std::errc::invalid_argument) return nullptr;
  if (error == std::errc::result_out_of_range) {
    if (exponent + digits > 0) return nullptr;
    out = negative ? T(-0.0) : T(0);
  }
  return stop;
}

}  // namespace spdistal
