// From kernel IR to something that runs on a device: grids, text, compiler, cache, loading.
#pragma once
#include <functional>
#include <future>
#include <map>
#include <mutex>
#include <string>

#include "codegen/cache.hpp"
#include "codegen/gpu_kernel.hpp"
#include "codegen/kernel.hpp"
#include "codegen/nvrtc.hpp"
#include "memory/pool.hpp"

namespace spdistal::codegen {

/// How the grids of a device come to run there.
class GridCompiler {
 public:
  virtual ~GridCompiler() = default;
  /// Code for each of the grids, which `text` shows as CUDA.
  virtual std::vector<runtime::Code> compile(const std::vector<const ir::Grid*>& grids, const std::string& text) = 0;
};

/// By NVIDIA's compiler, for one architecture; what was compiled is kept.
class CudaGrids final : public GridCompiler {
 public:
  CudaGrids(Nvrtc nvrtc, std::string identity, Cache cache);
  std::vector<runtime::Code> compile(const std::vector<const ir::Grid*>& grids, const std::string& text) override;

 private:
  Nvrtc nvrtc_;
  std::string identity_;  // of compiler, options and architecture
  Cache cache_;
};

/// By the interpreter, whose threads run in lockstep: an element that two of them race for is an error.
class InterpretedGrids final : public GridCompiler {
 public:
  std::vector<runtime::Code> compile(const std::vector<const ir::Grid*>& grids, const std::string& text) override;
};

class GpuJit {
 public:
  GpuJit(runtime::Device& device, std::unique_ptr<GridCompiler> compiler, GpuLimits limits = {});

  runtime::Device& device() const { return device_; }
  /// The kernel of what a device runs: from memory, from the cache, or compiled now. SystemError where that fails. What is run
  /// instead of it is made by `instead`.
  Kernel load(const ir::Launches& launches, std::function<ir::Launches()> instead = {});

 private:
  Kernel load_alone(const ir::Launches& launches);

  runtime::Device& device_;
  std::unique_ptr<GridCompiler> compiler_;
  GpuLimits limits_;
};

/// A device in memory of the host, which runs what InterpretedGrids makes: for machines without a GPU, and for tests. Its
/// memory is apart from that of tensors, as that of a GPU is.
std::unique_ptr<runtime::Device> interpreted_gpu(int number);
/// The pool that its memory comes from.
std::unique_ptr<memory::Pool> interpreted_gpu_pool();

}  // namespace spdistal::codegen
