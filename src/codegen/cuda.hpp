// A kernel as CUDA text: its blocks and threads are the GPUBlock and GPUThread loops of the function, or its warps and
// lanes the GPUWarp and GPULane loops.
//
// Requires: constants, then one GPUBlock loop, in it constants and one GPUThread or GPUWarp loop of literal length; inside that,
// anything but Parallel, Resize and allocations of unknown size. Parameters of the function are parameters of the CUDA
// kernel, in order: arrays as device pointers, numbers by value.
#pragma once
#include <string>
#include <vector>

#include "ir/nodes.hpp"
#include "spdistal/abi.h"

namespace spdistal::codegen {

struct CudaKernel {
  std::string name, text;
  ir::Function blocks;  // stores the number of blocks into its array 0; see block_count
  int threads = 0;      // of a block
};

CudaKernel cuda_kernel(const ir::Function& f);

/// Several kernels in one text.
std::string cuda_text(const std::vector<ir::Function>& functions);

/// How many blocks a call takes: computed on the host from the call's numbers (arrays may be on the device).
int64_t block_count(const CudaKernel& kernel, const spd_call& call);

}  // namespace spdistal::codegen
