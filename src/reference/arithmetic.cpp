#include "reference/arithmetic.hpp"

#include <algorithm>
#include <cmath>

#include "base/require.hpp"
#include "reference/array.hpp"

namespace spdistal::reference {
namespace {

const ScalarVariant& variant(const Scalar& s) { return s; }

template <class T>
constexpr bool is_complex_v = requires(T v) {
  v.imag();
};

template <class T>
T as(const Scalar& value) {
  return std::visit(
      [](auto v) -> T {
        using V = decltype(v);
        if constexpr (is_complex_v<T>) {
          using Part = typename T::value_type;
          if constexpr (is_complex_v<V>) return T(Part(v.real()), Part(v.imag()));
          else return T(Part(v));
        } else if constexpr (is_complex_v<V>) {
          return static_cast<T>(v.real());
        } else {
          return static_cast<T>(v);
        }
      },
      variant(value));
}

// Signed overflow wraps, as it does on every machine at hand.
template <class T>
T combine(notation::BinaryOp op, T a, T b) {
  using notation::BinaryOp;
  if constexpr (std::is_integral_v<T>) {
    using U = std::make_unsigned_t<T>;
    switch (op) {
      case BinaryOp::Add: return T(U(a) + U(b));
      case BinaryOp::Sub: return T(U(a) - U(b));
      case BinaryOp::Mul: return T(U(a) * U(b));
      default: return b == 0 ? T(0) : b == -1 ? T(U(0) - U(a)) : T(a / b);
    }
  } else {
    switch (op) {
      case BinaryOp::Add: return a + b;
      case BinaryOp::Sub: return a - b;
      case BinaryOp::Mul: return a * b;
      default: return a / b;
    }
  }
}

}  // namespace

DenseArray::DenseArray(ScalarType t, std::vector<int64_t> d) : type(t), dims(std::move(d)) {
  size_t size = 1;
  for (int64_t n : dims) size *= size_t(n);
  values.assign(size, zero(type));
}

size_t DenseArray::position(const std::vector<int64_t>& coordinates) const {
  size_t position = 0;
  for (size_t d = 0; d < dims.size(); d++) {
    require(coordinates[d] >= 0 && coordinates[d] < dims[d], "a coordinate lies within its dimension");
    position = position * size_t(dims[d]) + size_t(coordinates[d]);
  }
  return position;
}

Scalar& DenseArray::at(const std::vector<int64_t>& coordinates) { return values[position(coordinates)]; }

const Scalar& DenseArray::at(const std::vector<int64_t>& coordinates) const {
  return const_cast<DenseArray&>(*this).at(coordinates);
}

bool DenseArray::operator==(const DenseArray& other) const {
  auto same = [](const Scalar& a, const Scalar& b) {
    return a == b || std::visit(
                         [&](auto v) {
                           auto* w = std::get_if<decltype(v)>(&b);
                           return w && v == *w;
                         },
                         variant(a));
  };
  return type == other.type && dims == other.dims &&
         std::equal(values.begin(), values.end(), other.values.begin(), other.values.end(), same);
}

Scalar convert(const Scalar& value, ScalarType type) {
  return with_type(type, [&](auto z) -> Scalar { return as<decltype(z)>(value); });
}

Scalar zero(ScalarType type) {
  return with_type(type, [](auto z) -> Scalar { return z; });
}

bool is_zero(const Scalar& value) {
  return std::visit([](auto v) { return v == decltype(v){}; }, variant(value));
}

Scalar compute(notation::BinaryOp op, const Scalar& a, const Scalar& b) {
  return with_type(promote(a.type(), b.type()), [&](auto z) -> Scalar {
    using T = decltype(z);
    if constexpr (std::is_same_v<T, bool>) return false;  // promote never gives bool
    else return combine<T>(op, as<T>(a), as<T>(b));
  });
}

Scalar negate(const Scalar& a) { return compute(notation::BinaryOp::Sub, zero(promote(a.type(), a.type())), a); }

Scalar compute(notation::Function function, const std::vector<Scalar>& args) {
  using notation::Function;
  ScalarType type = args[0].type();
  for (const Scalar& arg : args) type = promote(type, arg.type());
  bool keeps_integers = function == Function::Abs || function == Function::Min || function == Function::Max;
  if (is_integral(type) && !keeps_integers) type = ScalarType::Float64;
  return with_type(type, [&](auto z) -> Scalar {
    using T = decltype(z);
    if constexpr (std::is_same_v<T, bool>) return false;
    else {
      T a = as<T>(args[0]), b = args.size() > 1 ? as<T>(args[1]) : T{};
      if (function == Function::Abs) return std::abs(a);
      if constexpr (!is_complex_v<T>) {
        if (function == Function::Min) return b < a ? b : a;
        if (function == Function::Max) return a < b ? b : a;
      }
      if constexpr (!std::is_integral_v<T>) switch (function) {
          case Function::Sqrt: return std::sqrt(a);
          case Function::Exp: return std::exp(a);
          case Function::Log: return std::log(a);
          case Function::Pow: return std::pow(a, b);
          default: break;
        }
      require(false, "a function is defined for its type");
      return a;
    }
  });
}

}  // namespace spdistal::reference
