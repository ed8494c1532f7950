// Element by element: into = into op from, for every element type.
#pragma once
#include <cstddef>
#include <type_traits>

#include "base/require.hpp"
#include "runtime/transport/transport.hpp"
#include "spdistal/scalar_type.hpp"

namespace spdistal::runtime {

/// a + b; for bool "or". Integers wrap around, as the kernels' do on every machine we know, without undefined
/// behaviour.
template <class T>
T sum_of(T a, T b) {
  if constexpr (std::is_same_v<T, bool>) return a || b;
  else if constexpr (std::is_integral_v<T>) return T(std::make_unsigned_t<T>(a) + std::make_unsigned_t<T>(b));
  else return a + b;
}

inline void combine_values(void* into, const void* from, size_t count, ScalarType type, ReduceOp op) {
  with_type(type, [&](auto zero) {
    using T = decltype(zero);
    T* a = static_cast<T*>(into);
    const T* b = static_cast<const T*>(from);
    if (op == ReduceOp::Sum) {
      for (size_t k = 0; k < count; k++) a[k] = sum_of(a[k], b[k]);
    } else if constexpr (std::is_arithmetic_v<T>) {
      for (size_t k = 0; k < count; k++)
        if (op == ReduceOp::Min ? b[k] < a[k] : a[k] < b[k]) a[k] = b[k];
    } else {
      require(false, "only ordered types have a least or greatest value");
    }
  });
}

}  // namespace spdistal::runtime
