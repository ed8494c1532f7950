#include "runtime/device/host.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <atomic>

#include "base/require.hpp"
#include "memory/copy.hpp"

namespace spdistal::runtime {
namespace {

struct HostKernel final : LoadedKernel {
  spd_kernel* entry = nullptr;
  std::function<int(spd_call&)> function;  // where there is no entry
};

// A library stays loaded: threads of its OpenMP regions may outlive the kernel.
spd_kernel* entry_of(const SharedLibrary& library) {
  void* file = dlopen(library.path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!file) throw SystemError(fmt::format("cannot load a compiled kernel: {}", dlerror()));
  auto* entry = reinterpret_cast<spd_kernel*>(dlsym(file, library.function.c_str()));
  if (!entry) throw SystemError(fmt::format("a compiled kernel lacks its function '{}'", library.function));
  return entry;
}

class HostDevice final : public Device {
 public:
  memory::Place place() const override { return memory::host; }

  void copy(void* to, const void* from, size_t bytes, Stream) override { memory::copy_bytes(to, from, bytes); }
  void fill(void* to, std::byte value, size_t bytes, Stream) override { memory::fill_bytes(to, value, bytes); }

  std::shared_ptr<const LoadedKernel> load(const Code& code) override {
    auto out = std::make_shared<HostKernel>();
    if (auto* library = std::get_if<SharedLibrary>(&code)) out->entry = entry_of(*library);
    else if (auto* function = std::get_if<HostFunction>(&code)) out->function = function->function;
    else throw SystemError("the host does not run code of devices");
    return out;
  }

  int launch(const LoadedKernel& kernel, const Launch& launch, Stream) override {
    auto& own = static_cast<const HostKernel&>(kernel);
    require(launch.call != nullptr, "a kernel of the host takes a call");
    return own.entry ? own.entry(launch.call) : own.function(*launch.call);
  }

  Stream stream() override { return {++streams_}; }
  Event record(Stream stream) override { return {stream, 0}; }
  void after(Event, Stream) override {}
  void wait(Event) override {}
  void wait(Stream) override {}

 private:
  std::atomic<int> streams_ = 0;
};

}  // namespace

Device& host_device() {
  static HostDevice host;
  return host;
}

}  // namespace spdistal::runtime
