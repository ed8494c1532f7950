// Numbers in text, fast. Each reader takes [p, end), reads as much as is a number and returns the place behind it, or
// null where there is none; nothing is skipped before it.
#pragma once
#include <charconv>
#include <cstdint>
#include <type_traits>

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

/// A float or double as C would read it in decimal, inf and nan included, rounded correctly. A number too large for the
/// type is null, one too small is zero.
template <class T>
const char* read_real(const char* p, const char* end, T& out) {
  // Few digits and a small power of ten: both exact in a double, so one operation rounds correctly (Clinger).
  static constexpr double powers[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                      1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
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
  if constexpr (std::is_same_v<T, double>)
    if (digits > 0 && digits <= 19 && mantissa < (uint64_t(1) << 53) && exponent >= -22 && exponent <= 22) {
      double value = double(mantissa);
      value = exponent < 0 ? value / powers[-exponent] : value * powers[exponent];
      out = negative ? -value : value;
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
