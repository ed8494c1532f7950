#include "ir/math.hpp"

namespace spdistal::ir {
namespace {

// clang-format off
constexpr MathInfo table[] = {
    // function    name     arity  integers reals complexes  real_result
    {Math::Sqrt,  "sqrt",  1, false, true,  true,  false}, {Math::Cbrt,  "cbrt",  1, false, true,  false, false},
    {Math::Abs,   "abs",   1, true,  true,  true,  true},  {Math::Exp,   "exp",   1, false, true,  true,  false},
    {Math::Expm1, "expm1", 1, false, true,  false, false}, {Math::Log,   "log",   1, false, true,  true,  false},
    {Math::Log1p, "log1p", 1, false, true,  false, false}, {Math::Log2,  "log2",  1, false, true,  false, false},
    {Math::Log10, "log10", 1, false, true,  false, false}, {Math::Pow,   "pow",   2, false, true,  true,  false},
    {Math::Sin,   "sin",   1, false, true,  true,  false}, {Math::Cos,   "cos",   1, false, true,  true,  false},
    {Math::Tan,   "tan",   1, false, true,  true,  false}, {Math::Asin,  "asin",  1, false, true,  true,  false},
    {Math::Acos,  "acos",  1, false, true,  true,  false}, {Math::Atan,  "atan",  1, false, true,  true,  false},
    {Math::Atan2, "atan2", 2, false, true,  false, false}, {Math::Sinh,  "sinh",  1, false, true,  true,  false},
    {Math::Cosh,  "cosh",  1, false, true,  true,  false}, {Math::Tanh,  "tanh",  1, false, true,  true,  false},
    {Math::Erf,   "erf",   1, false, true,  false, false}, {Math::Floor, "floor", 1, false, true,  false, false},
    {Math::Ceil,  "ceil",  1, false, true,  false, false}, {Math::Round, "round", 1, false, true,  false, false},
    {Math::Conj,  "conj",  1, false, false, true,  false}, {Math::Real,  "real",  1, false, false, true,  true},
    {Math::Imag,  "imag",  1, false, false, true,  true},
    // Division that is defined for all integers: 0 where the divisor is 0, and what overflows wraps.
    {Math::Quotient, "quotient", 2, true, false, false, false},
};
// clang-format on
static_assert(std::size(table) == math_functions);

}  // namespace

const MathInfo& info(Math function) { return table[size_t(function)]; }

bool exists_for(Math function, ScalarType type) {
  if (type == ScalarType::Bool) return false;
  const MathInfo& i = info(function);
  return is_complex(type) ? i.complexes : is_integral(type) ? i.integers : i.reals;
}

ScalarType real_part(ScalarType type) {
  if (type == ScalarType::Complex64) return ScalarType::Float32;
  if (type == ScalarType::Complex128) return ScalarType::Float64;
  return type;
}

ScalarType result_type(Math function, ScalarType argument) {
  return info(function).real_result ? real_part(argument) : argument;
}

}  // namespace spdistal::ir
