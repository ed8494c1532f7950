// From kernel IR to something that runs on a device: grids, text, compiler, cache, loading.
#pragma once
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "codegen/cache.hpp"
#include "codegen/gpu_kernel.hpp"
#include "codegen/kernel.hpp"
#include "codegen/nvrtc.hpp"

namespace spdistal::codegen {

/// How the grids of a device come to run there.
class GridCompiler {
 public:
  virtual ~GridCompiler() = default;
  /// Code for each of the grids, which `text` shows as CUDA.
  virtual std::vector<runtime::Code> compile(const std::vector<const ir::Grid*>& grids, const std::string& text) = 0;
};

/// By NVIDIA's compiler, for one architecture; what was compiled is kept, and the same for all devices of it.
class CudaGrids final : public GridCompiler {
 public:
  CudaGrids(Nvrtc nvrtc, std::string identity, Cache cache);
  std::vector<runtime::Code> compile(const std::vector<const ir::Grid*>& grids, const std::string& text) override;

 private:
  std::shared_ptr<const std::string> image(const std::string& key, const std::string& text, const std::string& name);

  Nvrtc nvrtc_;
  std::string identity_;  // of compiler, options and architecture
  Cache cache_;
  std::map<std::string, std::weak_ptr<const std::string>> loaded_;
};

/// By the interpreter, whose threads run in lockstep: an element that two of them race for is an error.
class InterpretedGrids final : public GridCompiler {
 public:
  std::vector<runtime::Code> compile(const std::vector<const ir::Grid*>& grids, const std::string& text) override;
};

/// What makes the kernels of one device.
class GpuJit {
 public:
  GpuJit(runtime::Device& device, std::shared_ptr<GridCompiler> compiler, GpuLimits limits = {});

  runtime::Device& device() const { return device_; }
  /// The kernel of what a device runs: from memory, from the cache, or compiled now. SystemError where that fails. What is run
  /// instead of it is made by `instead`.
  Kernel load(const ir::Launches& launches, std::function<ir::Launches()> instead = {});

 private:
  Kernel load_alone(const ir::Launches& launches);

  runtime::Device& device_;
  std::shared_ptr<GridCompiler> compiler_;
  GpuLimits limits_;
};

}  // namespace spdistal::codegen
