// Devices that are none, in memory of the host: they run what InterpretedGrids makes, on machines without a GPU and in tests. Each has
// memory of its own, apart from that of tensors and of the others: what reads elsewhere is found out.
#pragma once
#include "runtime/device/device.hpp"

namespace spdistal::codegen {

/// The interpreted GPU of this number, with a pool for its memory: made when it is first asked for. From any thread.
runtime::Device& interpreted_gpu(int number);

}  // namespace spdistal::codegen
