#pragma once
#include <string>

namespace spdistal::codegen {

/// Names the processor's model and features: machine code for one may not run on another.
std::string processor_identity();

/// Bytes of the widest vector register.
int vector_bytes();

}  // namespace spdistal::codegen
