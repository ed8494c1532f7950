// The GPUs of a process: found when they are first asked for, shared out between the ranks of a node, and refused by what is missing.
#include <fmt/format.h>
#include <unistd.h>

#include <cstring>

#include "base/hash.hpp"
#include "base/require.hpp"
#include "codegen/interpreted_gpu.hpp"
#include "process/process.hpp"
#include "runtime/device/cuda.hpp"
#include "runtime/task/mapping.hpp"
#include "runtime/transport/agree.hpp"
#include "spdistal/error.hpp"

namespace spdistal {
namespace {

constexpr const char* remedy =
    "run on a machine with a GPU, leave ',gpu' and GPU units out to use the CPU, or set SPDISTAL_GPU=interpreted to "
    "see "
    "what a GPU would compute";

// Those that this process sees, and what tells them from those of another.
struct Seen {
  int count;
  std::string identities;
};
Seen seen_gpus(const GpuOptions& options) {
  if (options.kind == GpuOptions::Kind::Interpreted) return {options.interpreted, "interpreted"};
  Result<runtime::CudaGpus> found = runtime::cuda_gpus(options.driver);
  if (!found) throw UserError("kernels are asked to run on a GPU, but " + found.refusal().message, remedy);
  return {found->count, found->identities};
}

// Collective. Those that this rank uses, of what it sees. A launcher may have given ranks GPUs of their own, which they see alone:
// ranks of a node that see the same share them out.
Range part_of(runtime::Transport& transport, const Seen& seen) {
  struct View {
    char node[256] = {};
    uint64_t gpus = 0;
    bool operator==(const View& other) const { return std::strcmp(node, other.node) == 0 && gpus == other.gpus; }
  } here;
  gethostname(here.node, sizeof(here.node) - 1);
  here.gpus = hash_bytes(seen.identities.data(), seen.identities.size());
  std::vector<View> all = transport.allgather(here);
  int before = 0, alike = 0;
  for (int rank = 0; rank < transport.size(); rank++) {
    if (!(all[size_t(rank)] == here)) continue;
    if (rank < transport.rank()) before++;
    alike++;
  }
  return runtime::devices_of(before, alike, seen.count);
}

codegen::Nvrtc find_nvrtc(const std::string& file, const std::string& architecture) {
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

const std::vector<memory::Place>& Process::gpus() {
  if (!gpus_.empty()) return gpus_;
  const GpuOptions& options = gpu_settings_.options;
  Seen seen = runtime::together(transport(), [&] { return seen_gpus(options); });
  Range mine = part_of(transport(), seen);
  if (options.most) mine.hi = std::min(mine.hi, mine.lo + *options.most);
  return gpus_ = runtime::together(transport(), [&] {
           std::vector<memory::Place> out;
           for (int64_t number = mine.lo; number < mine.hi; number++)
             out.push_back(add_gpu(int(number)).device().place());
           return out;
         });
}

std::shared_ptr<codegen::GridCompiler> Process::compiler_for(const std::string& architecture) {
  std::shared_ptr<codegen::GridCompiler>& compiler = grid_compilers_[architecture];
  if (!compiler && gpu_settings_.options.compiler) compiler = gpu_settings_.options.compiler(architecture);
  if (compiler) return compiler;
  codegen::Nvrtc nvrtc = find_nvrtc(gpu_settings_.options.nvrtc, architecture);
  codegen::Cache cache(gpu_settings_.cache_folder, gpu_settings_.cache_bytes, {});
  std::string identity = nvrtc.identity();
  return compiler = std::make_shared<codegen::CudaGrids>(std::move(nvrtc), std::move(identity), std::move(cache));
}

codegen::GpuJit& Process::add_gpu(int number) {
  std::unique_ptr<codegen::GpuJit>& made = gpu_jits_[memory::device(number)];
  if (made) return *made;
  if (gpu_settings_.options.kind == GpuOptions::Kind::Interpreted) {
    made = std::make_unique<codegen::GpuJit>(codegen::interpreted_gpu(number),
                                             std::make_shared<codegen::InterpretedGrids>(),
                                             codegen::GpuLimits{.shares = 64, .elements_of_a_share = 2});
    return *made;
  }
  Result<runtime::CudaFound> found = runtime::find_cuda(number);
  if (!found) throw UserError("kernels are asked to run on a GPU, but " + found.refusal().message, remedy);
  made = std::make_unique<codegen::GpuJit>(runtime::device_at(found->place), compiler_for(found->architecture),
                                           codegen::GpuLimits{.own_bytes = found->memory / 32});
  return *made;
}

codegen::GpuJit& Process::gpu(memory::Place place) {
  auto found = gpu_jits_.find(place);
  require(found != gpu_jits_.end() && found->second, "kernels are made for GPUs that the process uses");
  return *found->second;
}

void Process::wait_for_gpus() {
  for (memory::Place place : gpus_) gpu(place).device().wait(runtime::Stream{});
}

}  // namespace spdistal
