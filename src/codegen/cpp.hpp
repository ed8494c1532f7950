// A kernel as a C++ file: includes abi.h alone, OpenMP for threads and vectors.
#pragma once
#include <string>

#include "ir/nodes.hpp"

namespace spdistal::codegen {

/// The whole text. It defines `extern "C" int <name>(spd_call* call)`.
std::string cpp_text(const ir::Function& f);

/// The text of abi.h, as it was when the library was built.
std::string_view abi_text();

}  // namespace spdistal::codegen
