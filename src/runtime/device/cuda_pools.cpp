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
// again at once.
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
  void drop_behind(PoolBlock, size_t) noexcept override {}

 private:
  static CudaDriver::Address address_of(const std::byte* data) { return reinterpret_cast<CudaDriver::Address>(data); }

  const CudaDriver& driver_;
  void* context_;
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
