// The reductions of a vector loop: scalars from outside that its body updates, as x = x op e.
#pragma once
#include <string>

#include "ir/scoped_names.hpp"

namespace spdistal::codegen {

/// " reduction(+: sum)", one for each operation; empty where there is none.
std::string reduction_clauses(const ir::For& loop, ir::ScopedNames& names);

}  // namespace spdistal::codegen
