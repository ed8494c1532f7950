// How many registers a short row of sums takes.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "spdistal/scalar_type.hpp"

namespace spdistal::passes {

/// Sums of one row that are kept in more of them leave too few for everything else.
inline constexpr int64_t most_registers = 16;

/// How many there are: those of 64 bytes come in files of 32.
inline int64_t registers_of(int vector_bytes) { return vector_bytes >= 64 ? 32 : 16; }

/// The most lanes, a power of two, that fit a register and divide n; 1 where there are none.
inline int lanes_for(int64_t n, ScalarType type, int vector_bytes) {
  int lanes = int(size_t(vector_bytes) / size_of(type));
  while (lanes > 1 && n % lanes != 0) lanes /= 2;
  return std::max(lanes, 1);
}

inline bool has_lanes(ScalarType t) { return t != ScalarType::Bool && !is_complex(t); }

}  // namespace spdistal::passes
