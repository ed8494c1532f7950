// A kernel that runs on a device: its steps, walked by the host, with grids launched on the device where its arrays are.
//
// It takes an spd_call as a kernel of the host does. The `owner` of an array that is only read or written in place is its
// memory::Mirror, through which it is found on the device; without one it is copied there and, where it was written, back. The
// owner of an array that the kernel makes is its ResultArray.
#pragma once
#include <map>
#include <memory>
#include <set>
#include <vector>

#include "ir/launches.hpp"
#include "runtime/device/device.hpp"
#include "spdistal/abi.h"

namespace spdistal::codegen {

/// What the kernels of a device may ask for.
struct GpuLimits {
  size_t own_bytes = size_t(1) << 30;  // of all workers of a grid together
  int64_t shares = int64_t(1) << 20;   // of loops that are divided by weight
  int64_t elements_of_a_share = 16;    // at least
};

/// The grids of some steps, in order; those of choices and repetitions included.
std::vector<const ir::Grid*> grids_of(const ir::DeviceSteps& steps);

class GpuKernel {
 public:
  /// `loaded` has a kernel for each of the grids, in order.
  GpuKernel(ir::Launches launches, runtime::Device& device,
            std::vector<std::shared_ptr<const runtime::LoadedKernel>> loaded, GpuLimits limits);

  /// Returns what the kernel does: 0, or another code where it cannot do what it is for.
  int operator()(spd_call& call) const;

 private:
  class Run;
  std::shared_ptr<const ir::Launches> launches_;
  runtime::Device* device_;
  GpuLimits limits_;
  std::map<const ir::Grid*, std::shared_ptr<const runtime::LoadedKernel>> loaded_;
  int64_t lanes_ = 1;           // that share an item, at most
  std::set<Symbol> made_ = {};  // arrays that it makes
};

}  // namespace spdistal::codegen
