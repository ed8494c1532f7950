#include "codegen/interpreted_gpu.hpp"

#include <fmt/format.h>

#include <atomic>
#include <map>
#include <mutex>
#include <optional>

#include "memory/copy.hpp"
#include "memory/pool.hpp"
#include "spdistal/error.hpp"

namespace spdistal::codegen {
namespace {

// Which of them blocks of memory belong to: as a GPU would find out, who touches what is not its own fails.
class MemoryOwners {
 public:
  void add(const std::byte* begin, size_t bytes, int device) {
    std::lock_guard lock(mutex_);
    blocks_[begin] = {bytes, device};
  }
  void remove(const std::byte* begin) {
    std::lock_guard lock(mutex_);
    blocks_.erase(begin);
  }
  /// Is this memory of the device?
  void check_own(int device, const void* data, const char* does) {
    if (std::optional<int> owner = owner_of(data); owner != device)
      throw SystemError(fmt::format("device {} {} {}", device, does, described(owner)));
  }
  /// Likewise, or of the host?
  void check_reachable(int device, const void* data, const char* does) {
    if (std::optional<int> owner = owner_of(data); owner && *owner != device)
      throw SystemError(fmt::format("device {} {} {}", device, does, described(owner)));
  }

 private:
  struct Block {
    size_t bytes;
    int device;
  };

  std::optional<int> owner_of(const void* data) {
    auto* at = static_cast<const std::byte*>(data);
    std::lock_guard lock(mutex_);
    auto behind = blocks_.upper_bound(at);
    if (behind == blocks_.begin()) return {};
    const auto& [begin, block] = *std::prev(behind);
    return at < begin + block.bytes ? std::optional(block.device) : std::nullopt;
  }
  static std::string described(std::optional<int> owner) {
    return owner ? memory::device(*owner).str() : std::string("the host");
  }

  std::mutex mutex_;
  std::map<const std::byte*, Block> blocks_;
};

MemoryOwners& owners() {
  static auto* all = new MemoryOwners;  // never destroyed: buffers of other static objects may come later
  return *all;
}

// Who takes memory of it for that of a tensor finds nothing there.
class InterpretedGpuPool final : public memory::Pool {
 public:
  explicit InterpretedGpuPool(int number) : number_(number) {}

  memory::PoolBlock take(size_t bytes) override {
    memory::PoolBlock block = memory::host_pool().take(bytes);
    block.contents = memory::PoolBlock::Contents::Unknown;
    if (!block.data) return block;
    memory::fill_bytes(block.data, std::byte(0xff), block.bytes);  // something telling: NaN, -1
    owners().add(block.data, block.bytes, number_);
    return block;
  }
  void give(memory::PoolBlock block) noexcept override {
    owners().remove(block.data);
    memory::host_pool().give(block);
  }
  void fill(std::byte* to, std::byte value, size_t bytes) override {
    owners().check_own(number_, to, "clears memory of");
    memory::fill_bytes(to, value, bytes);
  }
  void copy(std::byte* to, const std::byte* from, size_t bytes) override {
    owners().check_own(number_, to, "copies to memory of");
    owners().check_own(number_, from, "copies from memory of");
    memory::copy_bytes(to, from, bytes);
  }
  void copy_in(std::byte* to, const std::byte* from, size_t bytes) override {
    owners().check_own(number_, to, "copies to memory of");
    owners().check_reachable(number_, from, "copies from memory of");
    memory::copy_bytes(to, from, bytes);
  }
  void copy_out(std::byte* to, const std::byte* from, size_t bytes) override {
    owners().check_reachable(number_, to, "copies to memory of");
    owners().check_own(number_, from, "copies from memory of");
    memory::copy_bytes(to, from, bytes);
  }
  void drop_behind(memory::PoolBlock, size_t) noexcept override {}

 private:
  int number_;
};

struct InterpretedKernel final : runtime::LoadedKernel {
  int device = 0;
  std::function<int(spd_call&)> function;
};

class InterpretedGpu final : public runtime::Device {
 public:
  explicit InterpretedGpu(int number) : number_(number) {}

  memory::Place place() const override { return memory::device(number_); }
  void copy(void* to, const void* from, size_t bytes, runtime::Stream) override {
    if (bytes == 0) return;
    owners().check_reachable(number_, to, "copies to memory of");
    owners().check_reachable(number_, from, "copies from memory of");
    memory::copy_bytes(to, from, bytes);
  }
  void fill(void* to, std::byte value, size_t bytes, runtime::Stream) override {
    if (bytes == 0) return;
    owners().check_own(number_, to, "clears memory of");
    memory::fill_bytes(to, value, bytes);
  }
  std::shared_ptr<const runtime::LoadedKernel> load(const runtime::Code& code) override {
    auto* function = std::get_if<runtime::HostFunction>(&code);
    if (!function) throw SystemError("an interpreted GPU runs interpreted grids");
    auto out = std::make_shared<InterpretedKernel>();
    out->device = number_;
    out->function = function->function;
    return out;
  }
  int launch(const runtime::LoadedKernel& kernel, const runtime::Launch& launch, runtime::Stream) override {
    auto& own = static_cast<const InterpretedKernel&>(kernel);
    if (own.device != number_)
      throw SystemError(fmt::format("device {} runs a kernel that device {} has loaded", number_, own.device));
    for (const spd_array& array : launch.arrays)
      if (array.data && array.count > 0) owners().check_own(number_, array.data, "runs a kernel on memory of");
    return own.function(*launch.call);
  }
  runtime::Stream stream() override { return {++streams_}; }
  runtime::Event record(runtime::Stream stream) override { return {stream, 0}; }
  void after(runtime::Event, runtime::Stream) override {}
  void wait(runtime::Event) override {}
  void wait(runtime::Stream) override {}

 private:
  int number_;
  std::atomic<int> streams_ = 0;
};

}  // namespace

runtime::Device& interpreted_gpu(int number) {
  static std::mutex mutex;
  static std::map<int, runtime::Device*> made;
  std::lock_guard lock(mutex);
  runtime::Device*& device = made[number];
  if (!device) {
    auto fresh = std::make_unique<InterpretedGpu>(number);
    device = fresh.get();
    memory::add_pool(fresh->place(), std::make_unique<InterpretedGpuPool>(number));
    runtime::add_device(std::move(fresh));
  }
  return *device;
}

}  // namespace spdistal::codegen
