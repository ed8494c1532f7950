// Numbers in text, fast. Each reader takes [p, end), reads as much as is a number and returns the place behind it, or
// null where there is none; nothing is skipped before it.
#pragma once
#include <algorithm>
#include <charconv>
#include <cstdint>

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

/// Of a number that a type cannot hold: is it too small, and not too large?
inline bool is_tiny(const char* start, const char* end) {
  long double wide = 1;
  if (std::from_chars(start, end, wide).ec == std::errc{}) return wide > -1 && wide < 1;
  const char* exponent = std::find_if(start, end, [](char c) { return c == 'e' || c == 'E'; });
  return end - exponent > 1 && exponent[1] == '-';
}

/// A float or double as C would read it in decimal, inf and nan included, rounded correctly. A number too large for the
/// type is null, one too small is zero.
template <class T>
const char* read_real(const char* p, const char* end, T& out) {
  if (p < end && *p == '+') {
    p++;
    if (p < end && *p == '-') return nullptr;
  }
  auto [stop, error] = std::from_chars(p, end, out);
  if (error == std::errc::invalid_argument) return nullptr;
  if (error == std::errc::result_out_of_range) {
    if (!is_tiny(p, stop)) return nullptr;
    out = *p == '-' ? T(-0.0) : T(0);
  }
  return stop;
}

}  // namespace spdistal
