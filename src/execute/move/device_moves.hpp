// Elements moved where they lie on GPUs, by kernels that are made for that as leaves are.
#pragma once
#include "runtime/region/device_moves.hpp"

namespace spdistal {

class Process;

/// Those of a process, whose GPUs were found.
runtime::DeviceMoves& moves_of(Process& process);

}  // namespace spdistal
