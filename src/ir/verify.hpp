// What legal kernel IR is: the semantics of nodes.hpp, as far as they can be checked without running it.
#pragma once
#include "ir/nodes.hpp"
#include "spdistal/result.hpp"

namespace spdistal::ir {

/// Types agree; variables are declared before use, once on any path, in scope; only mutable ones are assigned; arrays
/// are arrays, written ones not const; atomic stores, Parallel, Resize, Break, Return, Barrier, GPU loops and what warps compute
/// together stand where they may. The refusal
/// shows the offending statement or expression.
Result<> verify(const Function& f);

}  // namespace spdistal::ir
