#include "codegen/memory.hpp"

#include <sys/mman.h>

#include <cstdlib>
#include <cstring>
#include <new>

#include "base/require.hpp"

namespace spdistal::codegen {

void Buffer::Free::operator()(void* memory) const { std::free(memory); }

void* Buffer::reserve(size_t bytes) {
  if (bytes <= capacity_ && data_) return data_.get();
  // Large ones lie on huge pages where the system has them: far fewer misses of the translation buffer.
  constexpr size_t line = 64, huge_page = size_t{2} << 20;
  size_t alignment = bytes >= 2 * huge_page ? huge_page : line;
  size_t wanted = (std::max<size_t>(bytes, 1) + alignment - 1) / alignment * alignment;
  data_.reset();
  capacity_ = 0;
  data_.reset(std::aligned_alloc(alignment, wanted));
  if (!data_) throw std::bad_alloc();
  if (alignment == huge_page) madvise(data_.get(), wanted, MADV_HUGEPAGE);
  capacity_ = wanted;
  return data_.get();
}

HostContext::HostContext(int64_t thread_count, int64_t smallest) : spd_context{}, smallest_shared(smallest) {
  use(thread_count);
  resize = [](spd_context*, spd_array* array, int64_t count, int64_t bytes) {
    require(array->owner != nullptr, "an array that a kernel resizes has an owner");
    array->data = static_cast<ArrayOwner*>(array->owner)->reserve(size_t(bytes));
    array->count = count;
    return array->data;
  };
  take = [](spd_context* self, int64_t bytes, int zeroed) {
    return static_cast<HostContext*>(self)->take_memory(size_t(bytes), zeroed != 0);
  };
  give = [](spd_context* self, void* memory) { static_cast<HostContext*>(self)->give_memory(memory); };
}

void HostContext::use(int64_t thread_count) {
  constexpr int64_t shares_of_a_thread = 32;
  threads = thread_count;
  shares = threads == 1 ? 1 : threads * shares_of_a_thread;
}

void* HostContext::take_memory(size_t bytes, bool zeroed) {
  void* memory = nullptr;
  {
    std::lock_guard lock(mutex_);
    Buffer buffer;
    // The smallest that is large enough; otherwise the largest grows.
    auto found = free_.lower_bound(bytes);
    if (found == free_.end() && !free_.empty()) found = std::prev(found);
    if (found != free_.end()) {
      buffer = std::move(found->second);
      free_.erase(found);
    }
    memory = buffer.reserve(bytes);
    taken_.emplace(memory, std::move(buffer));
  }
  if (zeroed) std::memset(memory, 0, bytes);
  return memory;
}

void HostContext::give_memory(void* memory) {
  std::lock_guard lock(mutex_);
  auto it = taken_.find(memory);
  require(it != taken_.end(), "memory is given back once, and where it was taken");
  Buffer buffer = std::move(it->second);
  taken_.erase(it);
  size_t capacity = buffer.capacity();
  free_.emplace(capacity, std::move(buffer));
}

}  // namespace spdistal::codegen
