#include "codegen/gpu.hpp"

#include "base/hash.hpp"
#include "codegen/cuda.hpp"
#include "ir/interpret.hpp"
#include "memory/copy.hpp"

namespace spdistal::codegen {

CudaGrids::CudaGrids(Nvrtc nvrtc, std::string identity, Cache cache)
    : nvrtc_(std::move(nvrtc)), identity_(std::move(identity)), cache_(std::move(cache)) {}

std::vector<runtime::Code> CudaGrids::compile(const std::vector<const ir::Grid*>& grids, const std::string& text) {
  std::string key = long_hash(identity_ + text);
  std::optional<std::string> image = cache_.bytes(key);
  if (!image) {
    image = nvrtc_.compile(text, grids.front()->function.name);
    cache_.publish(key, *image);
  }
  auto bytes = std::make_shared<const std::string>(std::move(*image));
  std::vector<runtime::Code> out;
  for (const ir::Grid* grid : grids) out.push_back(runtime::DeviceImage{bytes, grid->function.name});
  return out;
}

std::vector<runtime::Code> InterpretedGrids::compile(const std::vector<const ir::Grid*>& grids, const std::string&) {
  std::vector<runtime::Code> out;
  for (const ir::Grid* grid : grids)
    out.push_back(runtime::HostFunction{
        [run = ir::Interpreter(grid->function, ir::Races::Found)](spd_call& call) { return run(call); }});
  return out;
}

GpuJit::GpuJit(runtime::Device& device, std::unique_ptr<GridCompiler> compiler, GpuLimits limits)
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

// ---- a device that is none ------------------------------------------------------------------------------------------------

namespace {

struct InterpretedKernel final : runtime::LoadedKernel {
  std::function<int(spd_call&)> function;
};

class InterpretedGpu final : public runtime::Device {
 public:
  explicit InterpretedGpu(int number) : number_(number) {}

  memory::Place place() const override { return memory::device(number_); }
  void copy(void* to, const void* from, size_t bytes, runtime::Stream) override { memory::copy_bytes(to, from, bytes); }
  void fill(void* to, std::byte value, size_t bytes, runtime::Stream) override { memory::fill_bytes(to, value, bytes); }
  std::shared_ptr<const runtime::LoadedKernel> load(const runtime::Code& code) override {
    auto* function = std::get_if<runtime::HostFunction>(&code);
    if (!function) throw SystemError("an interpreted GPU runs interpreted grids");
    auto out = std::make_shared<InterpretedKernel>();
    out->function = function->function;
    return out;
  }
  int launch(const runtime::LoadedKernel& kernel, const runtime::Launch& launch, runtime::Stream) override {
    return static_cast<const InterpretedKernel&>(kernel).function(*launch.call);
  }
  runtime::Stream stream() override { return {++streams_}; }
  runtime::Event record(runtime::Stream stream) override { return {stream, 0}; }
  void after(runtime::Event, runtime::Stream) override {}
  void wait(runtime::Event) override {}
  void wait(runtime::Stream) override {}

 private:
  int number_, streams_ = 0;
};

// Memory of the host, of which somebody who takes it for that of a tensor finds nothing there.
class InterpretedGpuPool final : public memory::Pool {
 public:
  memory::PoolBlock take(size_t bytes) override {
    memory::PoolBlock block = memory::host_pool().take(bytes);
    block.contents = memory::PoolBlock::Contents::Unknown;
    if (block.data) memory::fill_bytes(block.data, std::byte(0xff), block.bytes);  // something telling: NaN, -1
    return block;
  }
  void give(memory::PoolBlock block) noexcept override { memory::host_pool().give(block); }
  void fill(std::byte* to, std::byte value, size_t bytes) override { memory::fill_bytes(to, value, bytes); }
  void copy(std::byte* to, const std::byte* from, size_t bytes) override { memory::copy_bytes(to, from, bytes); }
  void drop_behind(memory::PoolBlock, size_t) noexcept override {}
};

}  // namespace

std::unique_ptr<runtime::Device> interpreted_gpu(int number) { return std::make_unique<InterpretedGpu>(number); }
std::unique_ptr<memory::Pool> interpreted_gpu_pool() { return std::make_unique<InterpretedGpuPool>(); }

}  // namespace spdistal::codegen
