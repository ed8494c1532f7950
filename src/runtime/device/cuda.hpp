// NVIDIA's GPUs as devices.
#pragma once
#include <string>

#include "memory/place.hpp"
#include "spdistal/result.hpp"

namespace spdistal::runtime {

struct CudaFound {
  memory::Place place;
  std::string name;          // "NVIDIA H200"
  std::string architecture;  // "sm_90"
  int multiprocessors = 1;
  size_t memory = 0;  // bytes
};

/// The GPU that this process uses, of those there are the one of this number counted round; a device from now on, with
/// pools for its memory and for pinned memory. Refuses with what is missing: "there is no NVIDIA driver …".
Result<CudaFound> find_cuda(int number);

}  // namespace spdistal::runtime
