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

/// a op b.
template <ReduceOp Op, class T>
T combined(T a, T b) {
  if constexpr (Op == ReduceOp::Sum) return sum_of(a, b);
  else if constexpr (Op == ReduceOp::Product) {
    if constexpr (std::is_same_v<T, bool>) return a && b;
    else if constexpr (std::is_integral_v<T>) return T(std::make_unsigned_t<T>(a) * std::make_unsigned_t<T>(b));
    else return a * b;
  } else if constexpr (std::is_arithmetic_v<T>) {
    return (Op == ReduceOp::Min ? b < a : a < b) ? b : a;
  } else {
    require(false, "only ordered types have a least or greatest value");
    return a;
  }
}

/// Calls f with an integral constant of the operation.
template <class F>
void with_op(ReduceOp op, F&& f) {
  switch (op) {
    case ReduceOp::Sum: return f(std::integral_constant<ReduceOp, ReduceOp::Sum>{});
    case ReduceOp::Product: return f(std::integral_constant<ReduceOp, ReduceOp::Product>{});
    case ReduceOp::Min: return f(std::integral_constant<ReduceOp, ReduceOp::Min>{});
    case ReduceOp::Max: return f(std::integral_constant<ReduceOp, ReduceOp::Max>{});
  }
}

inline void combine_values(void* into, const void* from, size_t count, ScalarType type, ReduceOp op) {
  with_type(type, [&](auto zero) {
    using T = decltype(zero);
    T* a = static_cast<T*>(into);
    const T* b = static_cast<const T*>(from);
    with_op(op, [&](auto how) {
      for (size_t k = 0; k < count; k++) a[k] = combined<decltype(how)::value>(a[k], b[k]);
    });
  });
}

}  // namespace spdistal::runtime
