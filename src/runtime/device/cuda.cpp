#include "runtime/device/cuda.hpp"

#include <fmt/format.h>

#include <limits>
#include <map>
#include <mutex>
#include <vector>

#include "base/require.hpp"
#include "runtime/device/cuda_driver.hpp"
#include "runtime/device/cuda_pools.hpp"
#include "runtime/device/device.hpp"

namespace spdistal::runtime {
namespace {

struct LoadedCudaKernel final : LoadedKernel {
  void* function = nullptr;
};

// Streams but the first are the driver's; the first is its own first, in which everything is in order. Modules stay
// loaded.
class CudaDevice final : public Device {
 public:
  CudaDevice(const CudaDriver& driver, void* context, memory::Place place)
      : driver_(driver), context_(context), place_(place) {}

  memory::Place place() const override { return place_; }

  void copy(void* to, const void* from, size_t bytes, Stream stream) override {
    if (bytes == 0) return;
    use();
    driver_.check(driver_.cuMemcpyAsync(address(to), address(from), bytes, handle(stream)), "copy memory");
  }
  void fill(void* to, std::byte value, size_t bytes, Stream stream) override {
    if (bytes == 0) return;
    use();
    driver_.check(driver_.cuMemsetD8Async(address(to), static_cast<unsigned char>(value), bytes, handle(stream)),
                  "clear memory");
  }

  std::shared_ptr<const LoadedKernel> load(const Code& code) override {
    auto* image = std::get_if<DeviceImage>(&code);
    if (!image) throw SystemError("a GPU runs machine code of its own");
    auto out = std::make_shared<LoadedCudaKernel>();
    driver_.check(driver_.cuModuleGetFunction(&out->function, module_of(*image), image->function.c_str()),
                  "find a kernel in its image");
    return out;
  }

  int launch(const LoadedKernel& kernel, const Launch& launch, Stream stream) override {
    use();
    require(launch.blocks >= 1 && launch.blocks <= std::numeric_limits<int32_t>::max(), "a grid has so many blocks");
    auto** arguments = const_cast<void**>(launch.arguments.data());
    driver_.check(driver_.cuLaunchKernel(static_cast<const LoadedCudaKernel&>(kernel).function, unsigned(launch.blocks),
                                         1, 1, unsigned(launch.threads), 1, 1, unsigned(launch.shared_bytes),
                                         handle(stream), arguments, nullptr),
                  "launch a kernel");
    return 0;
  }

  Stream stream() override {
    use();
    void* made = nullptr;
    driver_.check(driver_.cuStreamCreate(&made, 0), "make a stream");
    streams_.push_back(made);
    return {int(streams_.size()) - 1};
  }
  Event record(Stream stream) override {
    use();
    void* event = nullptr;
    driver_.check(driver_.cuEventCreate(&event, disable_timing), "make an event");
    driver_.check(driver_.cuEventRecord(event, handle(stream)), "record an event");
    events_.emplace(++recorded_, event);
    return {stream, recorded_};
  }
  void after(Event event, Stream stream) override {
    use();
    if (auto found = events_.find(event.number); found != events_.end())
      driver_.check(driver_.cuStreamWaitEvent(handle(stream), found->second, 0), "wait for an event");
  }
  void wait(Event event) override {
    use();
    auto found = events_.find(event.number);
    if (found == events_.end()) return;  // it has happened
    driver_.check(driver_.cuEventSynchronize(found->second), "run what was asked for");
    driver_.cuEventDestroy(found->second);
    events_.erase(found);
  }
  void wait(Stream stream) override {
    use();
    driver_.check(driver_.cuStreamSynchronize(handle(stream)), "run what was asked for");
  }

 private:
  static constexpr unsigned disable_timing = 2;

  static CudaDriver::Address address(const void* data) { return reinterpret_cast<CudaDriver::Address>(data); }
  void* handle(Stream stream) const { return streams_[size_t(stream.number)]; }
  // A context is a thread's.
  void use() const { driver_.check(driver_.cuCtxSetCurrent(context_), "be used"); }

  void* module_of(const DeviceImage& image) {
    use();
    std::lock_guard lock(mutex_);
    auto [it, fresh] = modules_.try_emplace(image.bytes, nullptr);
    if (fresh) {
      int error = driver_.cuModuleLoadData(&it->second, image.bytes->data());
      if (error != 0) modules_.erase(it);
      driver_.check(error, "load a compiled kernel");
    }
    return it->second;
  }

  const CudaDriver& driver_;
  void* context_;
  memory::Place place_;
  std::vector<void*> streams_{nullptr};
  std::map<uint64_t, void*> events_;
  uint64_t recorded_ = 0;
  std::mutex mutex_;
  std::map<std::shared_ptr<const std::string>, void*> modules_;
};

struct Driver {
  CudaDriver functions;
  std::string missing;
  int devices = 0;
};

// Loaded once.
Driver& driver() {
  static Driver& loaded = *[] {
    auto* out = new Driver;
    out->missing = out->functions.load();
    if (!out->missing.empty()) return out;
    if (int error = out->functions.cuInit(0); error != 0)
      out->missing = "NVIDIA's driver does not start: " + out->functions.describe(error);
    else if (out->functions.cuDeviceGetCount(&out->devices); out->devices == 0)
      out->missing = "NVIDIA's driver sees no GPU";
    return out;
  }();
  return loaded;
}

}  // namespace

Result<CudaFound> find_cuda(int number) {
  Driver& d = driver();
  if (!d.missing.empty()) return Diagnostic{d.missing, {}, {}};
  const CudaDriver& cuda = d.functions;
  static std::mutex mutex;
  static std::map<int, CudaFound> known;
  std::lock_guard lock(mutex);
  int which = number % d.devices;
  if (auto found = known.find(which); found != known.end()) return found->second;
  int device = 0, major = 0, minor = 0;
  char name[256] = {};
  void* context = nullptr;
  size_t free = 0;
  CudaFound out{memory::device(which), {}, {}};
  auto failed = [&](int error) {
    return Diagnostic{fmt::format("GPU {} cannot be used: {}", which, cuda.describe(error)), {}, {}};
  };
  if (int error = cuda.cuDeviceGet(&device, which)) return failed(error);
  if (int error = cuda.cuDevicePrimaryCtxRetain(&context, device)) return failed(error);
  if (int error = cuda.cuCtxSetCurrent(context)) return failed(error);
  cuda.cuDeviceGetName(name, sizeof name - 1, device);
  cuda.cuDeviceGetAttribute(&major, CudaDriver::Major, device);
  cuda.cuDeviceGetAttribute(&minor, CudaDriver::Minor, device);
  cuda.cuDeviceGetAttribute(&out.multiprocessors, CudaDriver::Multiprocessors, device);
  cuda.cuMemGetInfo(&free, &out.memory);
  cuda.cuCtxSetLimit(CudaDriver::HeapBytes, out.memory / 32);  // taken by kernels that allocate, and not before
  out.name = name;
  out.architecture = fmt::format("sm_{}{}", major, minor);
  memory::add_pool(out.place, cuda_pool(cuda, context));
  if (known.empty()) memory::add_pool(memory::pinned, pinned_pool(cuda, context));
  add_device(std::make_unique<CudaDevice>(cuda, context, out.place));
  return known.emplace(which, out).first->second;
}

}  // namespace spdistal::runtime
