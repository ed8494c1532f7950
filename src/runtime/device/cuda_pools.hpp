// Memory of a GPU, and of the host pinned for it: taken in steps of size, kept for whoever wants it next.
#pragma once
#include <memory>

#include "memory/pool.hpp"
#include "runtime/device/cuda_driver.hpp"

namespace spdistal::runtime {

std::unique_ptr<memory::Pool> cuda_pool(const CudaDriver& driver, void* context);
std::unique_ptr<memory::Pool> pinned_pool(const CudaDriver& driver, void* context);

}  // namespace spdistal::runtime
