// Leaves that a routine computes: whether it can, and the kernel that calls it.
#pragma once
#include <string>

#include "codegen/kernel.hpp"
#include "compile/compile.hpp"
#include "routine/call.hpp"

namespace spdistal {

/// Collective. What replaces loops of the leaf, and where it is from; empty where nothing does. Throws UserError where the routine
/// cannot be called for the pieces that the plan makes, on the processor that tensors live on, or its library is not there.
std::string check_substituted(Process& process, const Compiled& compiled, Processor processor);

/// What calls it, on a device or on the host.
codegen::Kernel calling(routine::LeafLoops loops, const notation::ConcreteStatement& statement,
                        const routine::Libraries& libraries, DevicePlace device);

}  // namespace spdistal
