// The mathematical functions for values, by the C++ library.
#include "ir/interpret_code.hpp"

namespace spdistal::ir {

namespace {

template <class T>
T real_only(Math f, T a, T b) {
  switch (f) {
    case Math::Cbrt: return std::cbrt(a);
    case Math::Expm1: return std::expm1(a);
    case Math::Log1p: return std::log1p(a);
    case Math::Log2: return std::log2(a);
    case Math::Log10: return std::log10(a);
    case Math::Atan2: return std::atan2(a, b);
    case Math::Erf: return std::erf(a);
    case Math::Floor: return std::floor(a);
    case Math::Ceil: return std::ceil(a);
    case Math::Round: return std::round(a);
    case Math::Abs: return std::abs(a);
    default: require(false, "a function exists for the type it is called with"); return a;
  }
}

}  // namespace

template <class T>
T evaluate_math(Math f, T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    if constexpr (is_integer_v<T>)
      if (f == Math::Quotient) return b == 0 ? T(0) : arithmetic<BinaryOp::Div>(a, b);
    require(f == Math::Abs, "a function exists for the type it is called with");
    return a < T(1) ? negate(a) : a;
  } else {
    switch (f) {
      case Math::Sqrt: return std::sqrt(a);
      case Math::Exp: return std::exp(a);
      case Math::Log: return std::log(a);
      case Math::Pow: return std::pow(a, b);
      case Math::Sin: return std::sin(a);
      case Math::Cos: return std::cos(a);
      case Math::Tan: return std::tan(a);
      case Math::Asin: return std::asin(a);
      case Math::Acos: return std::acos(a);
      case Math::Atan: return std::atan(a);
      case Math::Sinh: return std::sinh(a);
      case Math::Cosh: return std::cosh(a);
      case Math::Tanh: return std::tanh(a);
      default:
        if constexpr (is_complex_v<T>) {
          require(f == Math::Conj, "a function exists for the type it is called with");
          return std::conj(a);
        } else {
          return real_only(f, a, b);
        }
    }
  }
}

template <class T>
typename T::value_type evaluate_real_part(Math f, T a) {
  if (f == Math::Abs) return std::abs(a);
  return f == Math::Real ? a.real() : a.imag();
}

template bool evaluate_math(Math, bool, bool);
template int32_t evaluate_math(Math, int32_t, int32_t);
template int64_t evaluate_math(Math, int64_t, int64_t);
template float evaluate_math(Math, float, float);
template double evaluate_math(Math, double, double);
template std::complex<float> evaluate_math(Math, std::complex<float>, std::complex<float>);
template std::complex<double> evaluate_math(Math, std::complex<double>, std::complex<double>);
template float evaluate_real_part(Math, std::complex<float>);
template double evaluate_real_part(Math, std::complex<double>);

}  // namespace spdistal::ir
