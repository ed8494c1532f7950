// Numbers as machines of the other byte order write them.
#pragma once
#include <algorithm>
#include <cstddef>

#include "memory/copy.hpp"
#include "tensor/values.hpp"

namespace spdistal {

/// Each part of a complex number by itself.
template <class T>
T of_other_byte_order(T value) {
  std::byte bytes[sizeof(T)];
  memory::store(bytes, value);
  constexpr size_t part = is_complex_type<T> ? sizeof(T) / 2 : sizeof(T);
  for (size_t at = 0; at < sizeof(T); at += part) std::reverse(bytes + at, bytes + at + part);
  return memory::load<T>(bytes);
}

}  // namespace spdistal
