// How C-family languages spell what kernel IR says: one table per language. The printer (`c_text`) is shared.
#pragma once
#include <string>
#include <string_view>

#include "ir/math.hpp"
#include "ir/nodes.hpp"

namespace spdistal::codegen {

enum class Language : uint8_t { Cpp, Cuda };

struct Spelling {
  Language language;
  std::string_view types[7];  // by ScalarType
  std::string_view restrict_word;
  std::string_view prefetch;      // a function of an address; empty: none
  std::string_view min, max;      // helpers; CUDA has functions of the usual names that treat NaN otherwise
  std::string_view unroll;        // the pragma, but for its number
  std::string_view own_function;  // what stands before a function of the kernel's own
  std::string_view infinity, nan;
  std::string_view complex_literal;  // with {type}, {re}, {im}
};
const Spelling& spelling(Language language);

/// The function that computes f for arguments of this type.
std::string math_name(const Spelling& spelling, ir::Math f, ScalarType type);

/// "int32_t", "const double*", "double8".
std::string type_text(const Spelling& spelling, const ir::Type& type);

}  // namespace spdistal::codegen
