// The GPU of a process: found when it is first asked for, and refused by what is missing.
#include <fmt/format.h>

#include "memory/pool.hpp"
#include "process/process.hpp"
#include "runtime/device/cuda.hpp"
#include "spdistal/error.hpp"

namespace spdistal {
namespace {

constexpr const char* remedy =
    "run on a machine with a GPU, leave ',gpu' and GPU units out to use the CPU, or set SPDISTAL_GPU=interpreted to "
    "see "
    "what a GPU would compute";

// Devices are for good: there is one of each number.
runtime::Device& interpreted_device() {
  static runtime::Device& device = [&]() -> runtime::Device& {
    std::unique_ptr<runtime::Device> made = codegen::interpreted_gpu(0);
    memory::Place place = made->place();
    memory::add_pool(place, codegen::interpreted_gpu_pool());
    runtime::add_device(std::move(made));
    return runtime::device_at(place);
  }();
  return device;
}

codegen::Nvrtc find_compiler(const std::string& file, const std::string& architecture) {
  codegen::NvrtcOptions options;
  options.architecture = architecture;
  if (!file.empty()) options.libraries = {file};
  std::optional<codegen::Nvrtc> found = codegen::Nvrtc::find(options);
  if (!found)
    throw UserError(
        file.empty() ? "kernels are asked to run on a GPU, but there is no libnvrtc.so to compile them"
                     : fmt::format("kernels are asked to run on a GPU, but {} is no NVRTC", file),
        "install NVIDIA's run-time compiler (nvidia-cuda-nvrtc), or say where it is: SPDISTAL_NVRTC=/…/libnvrtc.so");
  return *found;
}

}  // namespace

codegen::GpuJit& Process::gpu() {
  if (gpu_) return *gpu_;
  if (gpu_settings_.options.kind == GpuOptions::Kind::Interpreted) {
    gpu_ = std::make_unique<codegen::GpuJit>(interpreted_device(), std::make_unique<codegen::InterpretedGrids>(),
                                             codegen::GpuLimits{.shares = 64, .elements_of_a_share = 2});
    return *gpu_;
  }
  Result<runtime::CudaFound> found = runtime::find_cuda(transport().rank());
  if (!found) throw UserError("kernels are asked to run on a GPU, but " + found.refusal().message, remedy);
  codegen::Nvrtc nvrtc = find_compiler(gpu_settings_.options.nvrtc, found->architecture);
  codegen::Cache cache(gpu_settings_.cache_folder, gpu_settings_.cache_bytes, {});
  std::string identity = nvrtc.identity();
  gpu_ = std::make_unique<codegen::GpuJit>(runtime::device_at(found->place),
                                           std::make_unique<codegen::CudaGrids>(nvrtc, identity, std::move(cache)),
                                           codegen::GpuLimits{.own_bytes = found->memory / 32});
  return *gpu_;
}

void Process::wait_for_gpu() {
  if (gpu_) gpu_->device().wait(runtime::Stream{});
}

}  // namespace spdistal
