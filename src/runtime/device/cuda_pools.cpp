#include "runtime/device/cuda_pools.hpp"

#include <algorithm>
#include <bit>
#include <map>
#include <mutex>
#include <vector>

#include "memory/copy.hpp"

namespace spdistal::runtime {
namespace {

using memory::PoolBlock;

// Sizes that differ by less than an eighth serve each other.
size_t rounded(size_t bytes) {
  constexpr size_t least = 512;
  size_t step = std::max(least, std::bit_floor(std::max<size_t>(bytes, 1)) / 8);
  return std::max(least, (bytes + step - 1) / step * step);
}

class KeptBlocks {
 public:
  std::byte* take(size_t bytes) {
    std::lock_guard lock(mutex_);
    auto found = free_.find(bytes);
    if (found == free_.end() || found->second.empty()) return nullptr;
    std::byte* out = found->second.back();
    found->second.pop_back();
    return out;
  }
  void give(std::byte* data, size_t bytes) {
    std::lock_guard lock(mutex_);
    free_[bytes].push_back(data);
  }
  template <class F>
  void drop_all(F&& drop) {
    std::lock_guard lock(mutex_);
    for (auto& [bytes, blocks] : free_)
      for (std::byte* data : blocks) drop(data);
    free_.clear();
  }

 private:
  std::mutex mutex_;
  std::map<size_t, std::vector<std::byte*>> free_;
};

// What is put into the first stream happens in order, so that memory that is given back while a kernel uses it may be taken
// again at once. What comes from another GPU stands in the order of both.
class CudaPool final : public memory::Pool {
 public:
  CudaPool(const CudaDriver& driver, void* context) : driver_(driver), context_(context) {}

  PoolBlock take(size_t bytes) override {
    driver_.cuCtxSetCurrent(context_);
    size_t room = rounded(bytes);
    if (std::byte* kept = kept_.take(room)) return {kept, room};
    CudaDriver::Address address = 0;
    if (driver_.cuMemAlloc(&address, room) == CudaDriver::out_of_memory) {
      kept_.drop_all([&](std::byte* data) { driver_.cuMemFree(address_of(data)); });
      if (driver_.cuMemAlloc(&address, room) != 0) return {};
    }
    return {reinterpret_cast<std::byte*>(address), room};
  }
  void give(PoolBlock block) noexcept override { kept_.give(block.data, block.bytes); }
  void fill(std::byte* to, std::byte value, size_t bytes) override {
    driver_.cuCtxSetCurrent(context_);
    driver_.check(driver_.cuMemsetD8Async(address_of(to), static_cast<unsigned char>(value), bytes, nullptr),
                  "clear memory");
  }
  void copy(std::byte* to, const std::byte* from, size_t bytes) override {
    driver_.cuCtxSetCurrent(context_);
    driver_.check(driver_.cuMemcpyAsync(address_of(to), address_of(from), bytes, nullptr), "copy memory");
    driver_.check(driver_.cuStreamSynchronize(nullptr), "copy memory");
  }
  void copy_across(std::byte* to, memory::Pool& other, const std::byte* from, size_t bytes) override {
    auto* gpu = dynamic_cast<CudaPool*>(&other);
    if (!gpu) return Pool::copy_across(to, other, from, bytes);
    if (bytes == 0) return;
    static std::mutex one_at_a_time;
    std::lock_guard lock(one_at_a_time);
    CudaDriver::Handle written = gpu->now();
    use();
    driver_.check(driver_.cuStreamWaitEvent(nullptr, written, 0), "wait for an event");
    driver_.check(driver_.cuMemcpyPeerAsync(address_of(to), context_, address_of(from), gpu->context_, bytes, nullptr),
                  "copy memory of another GPU");
    CudaDriver::Handle read = now();
    gpu->use();
    driver_.check(driver_.cuStreamWaitEvent(nullptr, read, 0), "wait for an event");
  }
  void drop_behind(PoolBlock, size_t) noexcept override {}

 private:
  void use() { driver_.check(driver_.cuCtxSetCurrent(context_), "be used"); }
  /// When all that it was asked for by now has happened: until this is called again.
  CudaDriver::Handle now() {
    use();
    if (!now_) driver_.check(driver_.cuEventCreate(&now_, CudaDriver::disable_timing), "make an event");
    driver_.check(driver_.cuEventRecord(now_, nullptr), "record an event");
    return now_;
  }
  static CudaDriver::Address address_of(const std::byte* data) { return reinterpret_cast<CudaDriver::Address>(data); }

  const CudaDriver& driver_;
  void* context_;
  CudaDriver::Handle now_ = nullptr;  // an event, for good
  KeptBlocks kept_;
};

class PinnedPool final : public memory::Pool {
 public:
  PinnedPool(const CudaDriver& driver, void* context) : driver_(driver), context_(context) {}

  PoolBlock take(size_t bytes) override {
    driver_.cuCtxSetCurrent(context_);
    size_t room = rounded(bytes);
    if (std::byte* kept = kept_.take(room)) return {kept, room};
    void* address = nullptr;
    if (driver_.cuMemHostAlloc(&address, room, 0) != 0) return {};
    return {static_cast<std::byte*>(address), room};
  }
  void give(PoolBlock block) noexcept override { kept_.give(block.data, block.bytes); }
  void fill(std::byte* to, std::byte value, size_t bytes) override { memory::fill_bytes(to, value, bytes); }
  void copy(std::byte* to, const std::byte* from, size_t bytes) override { memory::copy_bytes(to, from, bytes); }
  void drop_behind(PoolBlock, size_t) noexcept override {}

 private:
  const CudaDriver& driver_;
  void* context_;
  KeptBlocks kept_;
};

}  // namespace

std::unique_ptr<memory::Pool> cuda_pool(const CudaDriver& driver, void* context) {
  return std::make_unique<CudaPool>(driver, context);
}
std::unique_ptr<memory::Pool> pinned_pool(const CudaDriver& driver, void* context) {
  return std::make_unique<PinnedPool>(driver, context);
}

}  // namespace spdistal::runtime
