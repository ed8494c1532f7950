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

const std::vector<std::string>& reserved_words() {
  static const std::vector<std::string> words = [] {
    std::vector<std::string> out = {
        "alignas", "alignof", "and", "and_eq", "asm", "auto", "bitand", "bitor", "bool", "break", "case", "catch",
        "char", "char8_t", "char16_t", "char32_t", "class", "co_await", "co_return", "co_yield", "compl", "concept",
        "const", "const_cast", "consteval", "constexpr", "constinit", "continue", "decltype", "default", "delete", "do",
        "double", "dynamic_cast", "else", "enum", "explicit", "export", "extern", "false", "float", "for", "friend",
        "goto", "if", "import", "inline", "int", "long", "module", "mutable", "namespace", "new", "noexcept", "not",
        "not_eq", "nullptr", "operator", "or", "or_eq", "private", "protected", "public", "register",
        "reinterpret_cast", "requires", "return", "short", "signed", "sizeof", "static", "static_assert", "static_cast",
        "struct", "switch", "template", "this", "thread_local", "throw", "true", "try", "typedef", "typeid", "typename",
        "typeof", "union", "unsigned", "using", "virtual", "void", "volatile", "wchar_t", "while", "xor", "xor_eq",
        // GCC, clang and CUDA predefine these, or abi.h does; the rest is what the text itself uses.
        "linux", "unix", "i386", "restrict", "INT64_MAX", "SPD_ABI_VERSION", "SPDISTAL_ABI_H", "threadIdx", "blockIdx",
        "blockDim", "gridDim", "warpSize", "int32_t", "int64_t", "complex64", "complex128", "call", "min", "max",
        "lower_bound", "upper_bound", "sort", "sort_run", "heap_sort", "scratch", "own_scratch", "resize", "append",
        "past_caches", "stream", "fence", "splat", "quotient", "min_of", "max_of", "atomic_add", "atomic_update",
        "atomic_multiply", "atomic_min", "atomic_max", "atomic_or", "atomic_and", "warp_add", "warp_min", "warp_max",
        "spd_call", "spd_tensor", "spd_array", "spd_level", "spd_context", "spd_kernel", "main",
        // Macros of CUDA's own headers, and what helpers call.
        "NULL", "offsetof", "INFINITY", "NAN", "CHAR_BIT", "CHAR_MAX", "CHAR_MIN", "INT_MAX", "INT_MIN", "SHRT_MAX",
        "SHRT_MIN", "SCHAR_MAX", "SCHAR_MIN", "UCHAR_MAX", "USHRT_MAX", "UINT_MAX", "LONG_MAX", "LONG_MIN", "ULONG_MAX",
        "LLONG_MAX", "LLONG_MIN", "ULLONG_MAX", "assert", "malloc", "free", "atomicAdd", "hypot", "complex_of",
        "warp_scan_add", "warp_scan_min", "warp_scan_max", "group_mask"};
    for (ScalarType type : all_scalar_types)
      for (int lanes = 2; lanes <= 64; lanes *= 2)
        out.push_back(type_text(spelling(Language::Cpp), {type, ir::Type::Form::Value, lanes}));
    for (int f = 0; f < ir::math_functions; f++)
      for (ScalarType type : all_scalar_types)
        if (ir::exists_for(Math(f), type)) out.push_back(math_name(spelling(Language::Cuda), Math(f), type));
    return out;
  }();
  return words;
}

}  // namespace spdistal::codegen
