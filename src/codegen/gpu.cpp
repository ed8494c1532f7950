#include "codegen/gpu.hpp"

#include "base/hash.hpp"
#include "codegen/cuda.hpp"
#include "ir/interpret.hpp"

namespace spdistal::codegen {

CudaGrids::CudaGrids(Nvrtc nvrtc, std::string identity, Cache cache)
    : nvrtc_(std::move(nvrtc)), identity_(std::move(identity)), cache_(std::move(cache)) {}

std::vector<runtime::Code> CudaGrids::compile(const std::vector<const ir::Grid*>& grids, const std::string& text) {
  std::shared_ptr<const std::string> bytes = image(long_hash(identity_ + text), text, grids.front()->function.name);
  std::vector<runtime::Code> out;
  for (const ir::Grid* grid : grids) out.push_back(runtime::DeviceImage{bytes, grid->function.name});
  return out;
}

// Devices that have loaded an image keep it.
std::shared_ptr<const std::string> CudaGrids::image(const std::string& key, const std::string& text,
                                                    const std::string& name) {
  std::weak_ptr<const std::string>& kept = loaded_[key];
  if (auto known = kept.lock()) return known;
  std::optional<std::string> bytes = cache_.bytes(key);
  if (!bytes) {
    bytes = nvrtc_.compile(text, name);
    cache_.publish(key, *bytes);
  }
  auto out = std::make_shared<const std::string>(std::move(*bytes));
  kept = out;
  return out;
}

std::vector<runtime::Code> InterpretedGrids::compile(const std::vector<const ir::Grid*>& grids, const std::string&) {
  std::vector<runtime::Code> out;
  for (const ir::Grid* grid : grids)
    out.push_back(runtime::HostFunction{
        [run = ir::Interpreter(grid->function, ir::Races::Found)](spd_call& call) { return run(call); }});
  return out;
}

GpuJit::GpuJit(runtime::Device& device, std::shared_ptr<GridCompiler> compiler, GpuLimits limits)
    : device_(device), compiler_(std::move(compiler)), limits_(limits) {}

Kernel GpuJit::load(const ir::Launches& launches, std::function<ir::Launches()> instead) {
  Kernel kernel = load_alone(launches);
  if (!instead) return kernel;
  return kernel.with_instead([this, make = std::move(instead)] { return load_alone(make()); });
}

Kernel GpuJit::load_alone(const ir::Launches& launches) {
  std::vector<const ir::Grid*> grids = grids_of(launches.steps);
  std::vector<ir::Function> functions;
  for (const ir::Grid* grid : grids) functions.push_back(grid->function);
  std::string text = cuda_text(functions);
  std::vector<std::shared_ptr<const runtime::LoadedKernel>> loaded;
  if (!grids.empty())
    for (const runtime::Code& code : compiler_->compile(grids, text)) loaded.push_back(device_.load(code));
  GpuKernel kernel(launches, device_, std::move(loaded), limits_);
  return Kernel::from_function([kernel](spd_call& call) { return kernel(call); }, text);
}

}  // namespace spdistal::codegen
