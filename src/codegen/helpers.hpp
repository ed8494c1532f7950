// The small functions that generated text calls, each printed only where it is used.
#pragma once
#include <string>

#include "codegen/expr_text.hpp"

namespace spdistal::codegen {

/// Type names and helper functions that a text needs, before the kernel itself; empty where it needs none.
std::string preamble(const Spelling& spelling, const Needs& needs);

}  // namespace spdistal::codegen
