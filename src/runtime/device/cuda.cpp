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
    driver_.check(driver_.cuEventCreate(&event, CudaDriver::disable_timing), "make an event");
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

// Loaded once, from the file that is asked for first.
Driver& driver(const std::string& file) {
  static Driver& loaded = *[&] {
    auto* out = new Driver;
    out->missing = out->functions.load(file);
    if (!out->missing.empty()) return out;
    if (int error = out->functions.cuInit(0); error != 0)
      out->missing = "NVIDIA's driver does not start: " + out->functions.describe(error);
    else if (out->functions.cuDeviceGetCount(&out->devices); out->devices == 0)
      out->missing = "NVIDIA's driver sees no GPU";
    return out;
  }();
  return loaded;
}

// Of a device that is in use.
struct InUse {
  int device;
  void* context;
  CudaFound found;
};

// Whatever goes between the two takes the shortest way that there is; without this it goes through the host.
void connect(const CudaDriver& cuda, const InUse& a, const InUse& b) {
  int can = 0;
  cuda.cuDeviceCanAccessPeer(&can, a.device, b.device);
  if (can && cuda.cuCtxSetCurrent(a.context) == 0) cuda.cuCtxEnablePeerAccess(b.context, 0);
}

}  // namespace

Result<CudaGpus> cuda_gpus(const std::string& file) {
  Driver& d = driver(file);
  if (!d.missing.empty()) return Diagnostic{d.missing, {}, {}};
  CudaGpus out{d.devices, {}};
  for (int number = 0; number < d.devices; number++) {
    int device = 0;
    char uuid[CudaDriver::uuid_bytes] = {};
    if (d.functions.cuDeviceGet(&device, number) == 0) d.functions.cuDeviceGetUuid(uuid, device);
    out.identities.append(uuid, sizeof uuid);
  }
  return out;
}

Result<CudaFound> find_cuda(int number) {
  Driver& d = driver({});
  if (!d.missing.empty()) return Diagnostic{d.missing, {}, {}};
  const CudaDriver& cuda = d.functions;
  static std::mutex mutex;
  static std::map<int, InUse> known;
  std::lock_guard lock(mutex);
  if (auto found = known.find(number); found != known.end()) return found->second.found;
  char name[256] = {};
  int major = 0, minor = 0;
  size_t free = 0;
  InUse made{0, nullptr, {memory::device(number), {}, {}}};
  CudaFound& out = made.found;
  auto failed = [&](int error) {
    return Diagnostic{fmt::format("GPU {} cannot be used: {}", number, cuda.describe(error)), {}, {}};
  };
  if (int error = cuda.cuDeviceGet(&made.device, number)) return failed(error);
  if (int error = cuda.cuDevicePrimaryCtxRetain(&made.context, made.device)) return failed(error);
  if (int error = cuda.cuCtxSetCurrent(made.context)) return failed(error);
  cuda.cuDeviceGetName(name, sizeof name - 1, made.device);
  cuda.cuDeviceGetAttribute(&major, CudaDriver::Major, made.device);
  cuda.cuDeviceGetAttribute(&minor, CudaDriver::Minor, made.device);
  cuda.cuDeviceGetAttribute(&out.multiprocessors, CudaDriver::Multiprocessors, made.device);
  cuda.cuMemGetInfo(&free, &out.memory);
  cuda.cuCtxSetLimit(CudaDriver::HeapBytes, out.memory / 32);  // taken by kernels that allocate, and not before
  out.name = name;
  out.architecture = fmt::format("sm_{}{}", major, minor);
  memory::add_pool(out.place, cuda_pool(cuda, made.context));
  if (known.empty()) memory::add_pool(memory::pinned, pinned_pool(cuda, made.context));
  add_device(std::make_unique<CudaDevice>(cuda, made.context, out.place));
  for (const auto& [_, other] : known) connect(cuda, made, other), connect(cuda, other, made);
  return known.emplace(number, std::move(made)).first->second.found;
}

}  // namespace spdistal::runtime
