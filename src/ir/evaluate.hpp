// What the operations of kernel IR mean for values: shared by constant folding and the interpreter.
#pragma once
#include <cmath>
#include <type_traits>

#include "base/convert.hpp"
#include "base/require.hpp"
#include "ir/math.hpp"

namespace spdistal::ir {

template <class T>
inline constexpr bool is_complex_v = !std::is_arithmetic_v<T>;
template <class T>
inline constexpr bool is_integer_v = std::is_integral_v<T> && !std::is_same_v<T, bool>;

/// Add, Sub, Mul, Div, Mod, Min, Max as far as they exist for T; Mod and Div by zero of integers are broken invariants.
template <BinaryOp Op, class T>
T arithmetic(T a, T b) {
  if constexpr (std::is_same_v<T, bool> || (Op == BinaryOp::Mod && !is_integer_v<T>) ||
                (is_complex_v<T> && (Op == BinaryOp::Min || Op == BinaryOp::Max))) {
    require(false, "arithmetic is done on types that have it");
    return a;
  } else if constexpr (is_integer_v<T>) {
    using U = std::make_unsigned_t<T>;  // what overflows wraps, here as in practice
    if constexpr (Op == BinaryOp::Add) return T(U(a) + U(b));
    if constexpr (Op == BinaryOp::Sub) return T(U(a) - U(b));
    if constexpr (Op == BinaryOp::Mul) return T(U(a) * U(b));
    if constexpr (Op == BinaryOp::Div || Op == BinaryOp::Mod) {
      require(b != 0, "integers are not divided by zero");
      if (b == -1) return Op == BinaryOp::Div ? T(U(0) - U(a)) : T(0);
      return Op == BinaryOp::Div ? T(a / b) : T(a % b);
    }
    if constexpr (Op == BinaryOp::Min) return b < a ? b : a;
    if constexpr (Op == BinaryOp::Max) return a < b ? b : a;
  } else {
    if constexpr (Op == BinaryOp::Add) return a + b;
    if constexpr (Op == BinaryOp::Sub) return a - b;
    if constexpr (Op == BinaryOp::Mul) return a * b;
    if constexpr (Op == BinaryOp::Div) return a / b;
    if constexpr (Op == BinaryOp::Min) return b < a ? b : a;
    if constexpr (Op == BinaryOp::Max) return a < b ? b : a;
  }
}

/// Lt … Ne; complex numbers have Eq and Ne alone.
template <BinaryOp Op, class T>
bool comparison(T a, T b) {
  if constexpr (Op == BinaryOp::Eq) return a == b;
  if constexpr (Op == BinaryOp::Ne) return a != b;
  if constexpr (is_complex_v<T>) {
    require(false, "complex numbers are not ordered");
    return false;
  } else {
    if constexpr (Op == BinaryOp::Lt) return a < b;
    if constexpr (Op == BinaryOp::Le) return a <= b;
    if constexpr (Op == BinaryOp::Gt) return a > b;
    if constexpr (Op == BinaryOp::Ge) return a >= b;
  }
}

template <class T>
T negate(T a) {
  if constexpr (std::is_same_v<T, bool>) return a;
  else if constexpr (is_integer_v<T>) return T(std::make_unsigned_t<T>(0) - std::make_unsigned_t<T>(a));
  else return -a;
}

/// As `convert_value`; complex to real does not exist.
template <class To, class From>
To convert(From value) {
  constexpr bool loses = is_complex_v<From> && !is_complex_v<To> && !std::is_same_v<To, bool>;
  require(!loses, "complex numbers are not converted to real ones");
  return convert_value<To>(value);
}

/// Calls f with an integral constant of the operation: `with_op(op, [&](auto o) { arithmetic<o()>(a, b); })`.
template <BinaryOp First, BinaryOp Last, class F>
decltype(auto) with_op(BinaryOp op, F&& f) {
  require(First <= op && op <= Last, "an operation is one of its group");
  if constexpr (First == Last) {
    return f(std::integral_constant<BinaryOp, Last>{});
  } else {
    if (op == First) return f(std::integral_constant<BinaryOp, First>{});
    constexpr auto next = static_cast<BinaryOp>(static_cast<int>(First) + 1);
    return with_op<next, Last>(op, std::forward<F>(f));
  }
}

/// Two values put together by an operation: Add … Max of numbers, And and Or of bools.
template <class T>
T combined(BinaryOp op, T a, T b) {
  if constexpr (std::is_same_v<T, bool>) return op == BinaryOp::Or ? a || b : a && b;
  else return with_op<BinaryOp::Add, BinaryOp::Max>(op, [&](auto o) { return arithmetic<decltype(o)::value>(a, b); });
}

}  // namespace spdistal::ir
