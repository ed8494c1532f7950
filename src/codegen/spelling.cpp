#include "codegen/spelling.hpp"

#include <fmt/format.h>

#include "base/require.hpp"

namespace spdistal::codegen {

using ir::Math;

const Spelling& spelling(Language language) {
  static const Spelling table[] = {
      {Language::Cpp,
       {"bool", "int32_t", "int64_t", "float", "double", "complex64", "complex128"},
       "__restrict",
       "__builtin_prefetch",
       "min",
       "max",
       "GCC unroll",
       "static",
       "__builtin_inf()",
       "__builtin_nan(\"\")",
       "{type}{{{re}, {im}}}"},
      {Language::Cuda,
       {"bool", "int32_t", "int64_t", "float", "double", "complex64", "complex128"},
       "__restrict__",
       "",
       "min_of",
       "max_of",
       "unroll",
       "static __device__",
       "__longlong_as_double(0x7ff0000000000000)",
       "__longlong_as_double(0x7ff8000000000000)",
       "{type}({re}, {im})"},
  };
  return table[size_t(language)];
}

std::string math_name(const Spelling& spelling, Math f, ScalarType type) {
  std::string_view name = ir::info(f).name;
  if (f == Math::Quotient) return fmt::format("{}<{}>", name, spelling.types[size_t(type)]);
  if (spelling.language == Language::Cuda) {
    if (f == Math::Abs && !is_integral(type))
      return is_complex(type) ? "abs" : type == ScalarType::Float32 ? "fabsf" : "fabs";
    if (f == Math::Abs) return type == ScalarType::Int64 ? "llabs" : "abs";
    return fmt::format("{}{}", name, type == ScalarType::Float32 ? "f" : "");
  }
  if (is_integral(type)) {
    require(f == Math::Abs, "integers have abs alone");
    return type == ScalarType::Int64 ? "__builtin_labs" : "__builtin_abs";
  }
  if (f == Math::Real) return "__real__ ";
  if (f == Math::Imag) return "__imag__ ";
  if (f == Math::Conj) return "~";
  std::string_view suffix = type == ScalarType::Float32 || type == ScalarType::Complex64 ? "f" : "";
  std::string_view prefix = is_complex(type) ? "c" : f == Math::Abs ? "f" : "";
  return fmt::format("__builtin_{}{}{}", prefix, name, suffix);
}

std::string type_text(const Spelling& spelling, const ir::Type& type) {
  std::string_view scalar = spelling.types[size_t(type.scalar)];
  switch (type.form) {
    case ir::Type::Form::Array: return fmt::format("{}*", scalar);
    case ir::Type::Form::ConstArray: return fmt::format("const {}*", scalar);
    default: break;
  }
  if (type.lanes == 1) return std::string(scalar);
  if (scalar.ends_with("_t")) scalar.remove_suffix(2);
  return fmt::format("{}x{}", scalar, type.lanes);
}

}  // namespace spdistal::codegen
