#include "codegen/reserved.hpp"

#include "codegen/helpers.hpp"

namespace spdistal::codegen {

using ir::Math;

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
        "blockDim", "gridDim", "warpSize", "int32_t", "int64_t", "call", "spd_call", "spd_tensor", "spd_array",
        "spd_level", "spd_context", "spd_kernel", "main",
        // Macros of CUDA's own headers, and what helpers call.
        "NULL", "offsetof", "INFINITY", "NAN", "CHAR_BIT", "CHAR_MAX", "CHAR_MIN", "INT_MAX", "INT_MIN", "SHRT_MAX",
        "SHRT_MIN", "SCHAR_MAX", "SCHAR_MIN", "UCHAR_MAX", "USHRT_MAX", "UINT_MAX", "LONG_MAX", "LONG_MIN", "ULONG_MAX",
        "LLONG_MAX", "LLONG_MIN", "ULLONG_MAX", "assert", "malloc", "free", "atomicAdd", "atomicCAS", "hypot", "asinh",
        "copysign"};
    for (Language language : {Language::Cpp, Language::Cuda})
      for (const HelperText& helper : helper_texts(language))
        out.insert(out.end(), helper.names.begin(), helper.names.end());
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
