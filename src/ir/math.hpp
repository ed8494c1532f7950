// The mathematical functions of kernel IR, one line each: name, number of arguments, and the types they exist for.
#pragma once
#include <string_view>

#include "ir/nodes.hpp"

namespace spdistal::ir {

struct MathInfo {
  Math function;
  std::string_view name;  // in IR text; with the C library's prefix and suffix the name in C
  int arity;
  bool integers, reals, complexes;  // of which the function exists; arguments have one type
  bool real_result;                 // of complex arguments: Abs, Real, Imag
};

const MathInfo& info(Math function);
/// All of them, in the order of the enum.
inline constexpr int math_functions = int(Math::Quotient) + 1;

/// Does it exist for this type?
bool exists_for(Math function, ScalarType type);
ScalarType result_type(Math function, ScalarType argument);
/// float of complex64, double of complex128, other types themselves.
ScalarType real_part(ScalarType type);

}  // namespace spdistal::ir
