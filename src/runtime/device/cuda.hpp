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

/// What NVIDIA's driver shows this process.
struct CudaGpus {
  int count = 0;
  std::string identities;  // of all of them: processes that see the same GPUs have the same
};

/// One at least. `driver` is the driver's file, empty where it is the loader's first; the first that is asked for stays the one. Refuses
/// with what is missing: "there is no NVIDIA driver …".
Result<CudaGpus> cuda_gpus(const std::string& driver);

/// The GPU of this number, of those that there are; a device from now on, with pools for its memory and for pinned memory. Refuses with
/// what is wrong.
Result<CudaFound> find_cuda(int number);

}  // namespace spdistal::runtime
