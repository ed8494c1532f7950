#include "notation/arithmetic.hpp"

#include <cmath>
#include <limits>

#include "base/convert.hpp"
#include "base/require.hpp"

namespace spdistal::notation {
namespace {

const ScalarVariant& variant(const Scalar& s) { return s; }

template <class T>
T as(const Scalar& value) {
  return std::visit([](auto v) { return convert_value<T>(v); }, variant(value));
}

// Signed overflow wraps, as it does on every machine at hand.
template <class T>
T combine(BinaryOp op, T a, T b) {
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

template <class T>
auto absolute(T a) {
  if constexpr (std::is_integral_v<T>) return a < 0 ? combine(BinaryOp::Sub, T(0), a) : a;
  else return std::abs(a);
}

template <class T>
bool compare(BinaryOp op, T a, T b) {
  if (op == BinaryOp::Eq) return a == b;
  if (op == BinaryOp::Ne) return a != b;
  if constexpr (!is_complex_type<T>) switch (op) {
      case BinaryOp::Lt: return a < b;
      case BinaryOp::Le: return a <= b;
      case BinaryOp::Gt: return a > b;
      case BinaryOp::Ge: return a >= b;
      default: break;
    }
  require(false, "only ordered types are compared by order");
  return false;
}

template <class T>
T apply_to_real(Function function, T a, T b) {
  switch (function) {
    case Function::Cbrt: return std::cbrt(a);
    case Function::Expm1: return std::expm1(a);
    case Function::Log1p: return std::log1p(a);
    case Function::Log2: return std::log2(a);
    case Function::Log10: return std::log10(a);
    case Function::Atan2: return std::atan2(a, b);
    case Function::Erf: return std::erf(a);
    case Function::Floor: return std::floor(a);
    case Function::Ceil: return std::ceil(a);
    case Function::Round: return std::round(a);
    case Function::Sigmoid: return T(1) / (T(1) + std::exp(-a));
    default: require(false, "a function is defined for its type"); return a;
  }
}

template <class T>
T apply(Function function, T a, T b) {
  switch (function) {
    case Function::Sqrt: return std::sqrt(a);
    case Function::Exp: return std::exp(a);
    case Function::Log: return std::log(a);
    case Function::Pow: return std::pow(a, b);
    case Function::Sin: return std::sin(a);
    case Function::Cos: return std::cos(a);
    case Function::Tan: return std::tan(a);
    case Function::Asin: return std::asin(a);
    case Function::Acos: return std::acos(a);
    case Function::Atan: return std::atan(a);
    case Function::Sinh: return std::sinh(a);
    case Function::Cosh: return std::cosh(a);
    case Function::Tanh: return std::tanh(a);
    default:
      if constexpr (!is_complex_type<T>) return apply_to_real(function, a, b);
      require(false, "a function is defined for its type");
      return a;
  }
}

}  // namespace

Scalar convert(const Scalar& value, ScalarType type) {
  return with_type(type, [&](auto z) -> Scalar { return as<decltype(z)>(value); });
}

Scalar zero(ScalarType type) {
  return with_type(type, [](auto z) -> Scalar { return z; });
}

bool is_zero(const Scalar& value) {
  return std::visit([](auto v) { return v == decltype(v){}; }, variant(value));
}

bool truth(const Scalar& value) { return !is_zero(value); }

bool same_number(const Scalar& a, const Scalar& b) {
  return a == b || std::visit(
                       [&](auto v) {
                         auto* w = std::get_if<decltype(v)>(&variant(b));
                         return w && v == *w;
                       },
                       variant(a));
}

Scalar compute(BinaryOp op, const Scalar& a, const Scalar& b) {
  if (op == BinaryOp::And) return truth(a) && truth(b);
  if (op == BinaryOp::Or) return truth(a) || truth(b);
  return with_type(promote(a.type(), b.type()), [&](auto z) -> Scalar {
    using T = decltype(z);
    if constexpr (std::is_same_v<T, bool>) return false;  // promote never gives bool
    else if (is_comparison(op)) return compare<T>(op, as<T>(a), as<T>(b));
    else return combine<T>(op, as<T>(a), as<T>(b));
  });
}

Scalar negate(const Scalar& a) { return compute(BinaryOp::Sub, zero(promote(a.type(), a.type())), a); }

Scalar compute(Function function, const std::vector<Scalar>& args) {
  if (function == Function::Select) {
    ScalarType yes = args[1].type(), no = args[2].type();
    return convert(args[truth(args[0]) ? 1 : 2], yes == no ? yes : promote(yes, no));
  }
  ScalarType type = args[0].type();
  for (const Scalar& arg : args) type = promote(type, arg.type());
  return with_type(argument_type(function, type), [&](auto z) -> Scalar {
    using T = decltype(z);
    if constexpr (std::is_same_v<T, bool>) return false;
    else {
      T a = as<T>(args[0]), b = args.size() > 1 ? as<T>(args[1]) : T{};
      if (function == Function::Abs) return absolute(a);
      if constexpr (!is_complex_type<T>) {
        if (function == Function::Min) return b < a ? b : a;
        if (function == Function::Max) return a < b ? b : a;
      }
      if constexpr (!std::is_integral_v<T>) return apply(function, a, b);
      require(false, "a function is defined for its type");
      return a;
    }
  });
}

Scalar identity(AssignOp op, ScalarType type) {
  return with_type(type, [&](auto z) -> Scalar {
    using T = decltype(z);
    if (op == AssignOp::Mul || op == AssignOp::And) return T(1);
    if constexpr (std::is_floating_point_v<T>) {
      constexpr T infinity = std::numeric_limits<T>::infinity();
      if (op == AssignOp::Min) return infinity;
      if (op == AssignOp::Max) return -infinity;
    } else if constexpr (std::is_integral_v<T>) {
      if (op == AssignOp::Min) return std::numeric_limits<T>::max();
      if (op == AssignOp::Max) return std::numeric_limits<T>::lowest();
    }
    return T{};
  });
}

ScalarType type_of_total(AssignOp op, ScalarType value, ScalarType result) {
  if (op != AssignOp::Add && op != AssignOp::Mul) return reduced_type(op, value);
  if (result == ScalarType::Complex64) result = ScalarType::Float32;
  if (result == ScalarType::Complex128) result = ScalarType::Float64;
  return promote(reduced_type(op, value), result);
}

Scalar compute(AssignOp op, const Scalar& there, const Scalar& value) {
  // As expressions are combined.
  static const std::vector<Expr> forms = [] {
    std::vector<Expr> out;
    for (const OperationInfo& operation : operations()) out.push_back(combined(operation.op, Literal{0}, Literal{0}));
    return out;
  }();
  if (op == AssignOp::Set) return value;
  const Expr& form = forms[size_t(op)];
  if (auto* n = form.as<Binary>()) return compute(n->op, there, value);
  return compute(form.as<Call>()->function, {there, value});
}

}  // namespace spdistal::notation
