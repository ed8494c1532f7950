#include "codegen/memory.hpp"

#include <sys/mman.h>
#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <cstring>
#include <new>
#include <thread>

#include "base/require.hpp"

namespace spdistal::codegen {

void Buffer::Free::operator()(void* memory) const { std::free(memory); }

void* Buffer::reserve(size_t bytes) {
  if (bytes <= capacity_ && data_) return data_.get();
  // Large ones lie on huge pages where the system has them: far fewer misses of the translation buffer.
  constexpr size_t line = 64, huge_page = size_t{2} << 20;
  size_t alignment = bytes >= huge_page ? huge_page : line;
  size_t wanted = (std::max<size_t>(bytes, 1) + alignment - 1) / alignment * alignment;
  data_.reset();
  capacity_ = 0;
  data_.reset(std::aligned_alloc(alignment, wanted));
  if (!data_) throw std::bad_alloc();
  if (alignment == huge_page) madvise(data_.get(), wanted, MADV_HUGEPAGE);
  capacity_ = wanted;
  return data_.get();
}

namespace {

// Copies a part of something. What is larger than the caches goes past them, which saves reading the lines to be written.
void copy_part(void* to, const void* from, size_t bytes, size_t whole, size_t caches) {
#if defined(__SSE2__)
  constexpr size_t line = 64;
  auto* target = static_cast<std::byte*>(to);
  auto* source = static_cast<const std::byte*>(from);
  size_t head = (line - reinterpret_cast<uintptr_t>(target) % line) % line;
  if (whole > caches && bytes >= head + line) {
    std::memcpy(target, source, head);
    size_t at = head;
    for (; at + line <= bytes; at += line)
      for (size_t k = 0; k < line; k += sizeof(__m128i))
        _mm_stream_si128(reinterpret_cast<__m128i*>(target + at + k),
                         _mm_loadu_si128(reinterpret_cast<const __m128i*>(source + at + k)));
    std::memcpy(target + at, source + at, bytes - at);
    _mm_sfence();
    return;
  }
#endif
  if (bytes > 0) std::memcpy(to, from, bytes);
}

}  // namespace

HostContext::HostContext(int64_t thread_count, int64_t smallest) : spd_context{}, smallest_shared(smallest) {
  use(thread_count);
  caches = int64_t{32} << 20;  // of a process: what systems say of caches that many share is far more
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
  append = [](spd_context* self, spd_array* array, int64_t share_count, int64_t share, void** part, int64_t count,
              int64_t bytes) {
    static_cast<HostContext*>(self)->append_part(*array, share_count, share, *part, count, size_t(bytes));
  };
}

void HostContext::use(int64_t thread_count) {
  constexpr int64_t shares_of_a_thread = 32;
  threads = thread_count;
  shares = threads == 1 ? 1 : threads * shares_of_a_thread;
}

void* HostContext::take_memory(size_t bytes, bool zeroed) {
  constexpr size_t large = size_t{1} << 20, plenty = 8;
  void* memory = nullptr;
  {
    std::lock_guard lock(mutex_);
    // Sizes that differ a little serve each other.
    if (size_t step = std::bit_floor(bytes) / 4; step > 64) bytes = (bytes + step - 1) / step * step;
    // What this thread gave back before is in its cache, and what another did is in the other's: it is left alone unless it
    // is large or there is plenty.
    auto mine = [me = std::this_thread::get_id()](const auto& entry) { return entry.second.last == me; };
    auto fits = free_.lower_bound(bytes);
    auto found = std::find_if(fits, free_.end(), mine);
    if (found == free_.end() && (bytes >= large || free_.size() >= size_t(threads) * plenty)) {
      found = fits;
      // None is large enough: the largest grows.
      if (found == free_.end() && !free_.empty()) found = std::prev(found);
    }
    Buffer buffer;
    if (found != free_.end()) {
      buffer = std::move(found->second.buffer);
      free_.erase(found);
    }
    memory = buffer.reserve(bytes);
    taken_.emplace(memory, std::move(buffer));
  }
  if (zeroed) std::memset(memory, 0, bytes);
  return memory;
}

void HostContext::give_memory(void* memory) {
  if (memory == nullptr) return;
  std::lock_guard lock(mutex_);
  auto it = taken_.find(memory);
  require(it != taken_.end(), "memory is given back once, and where it was taken");
  Buffer buffer = std::move(it->second);
  taken_.erase(it);
  size_t capacity = buffer.capacity();
  free_.emplace(capacity, Free{std::move(buffer), std::this_thread::get_id()});
}

// Threads put their own parts to their places, from their own caches, when these are known; what is left is put there with
// the last one. Copying is done outside of the lock.
void HostContext::append_part(spd_array& array, int64_t share_count, int64_t share, void*& part, int64_t count,
                              size_t bytes) {
  struct Copy {
    void *from, *to;
    size_t size;
  };
  std::vector<Copy> copies;
  {
    std::lock_guard lock(mutex_);
    Appended& all = appended_[&array];
    if (all.counts.empty()) all.counts.assign(size_t(share_count), -1), all.begins.assign(1, 0);
    require(int64_t(all.counts.size()) == share_count && all.counts[size_t(share)] < 0,
            "each of the shares appends to a result once");
    all.counts[size_t(share)] = count;
    all.waiting.push_back({share, part, std::this_thread::get_id()});
    part = nullptr;
    while (all.begins.size() <= all.counts.size() && all.counts[all.begins.size() - 1] >= 0)
      all.begins.push_back(all.begins.back() + all.counts[all.begins.size() - 1]);
    bool complete = all.begins.size() > all.counts.size();
    std::erase_if(all.waiting, [&](const Appended::Part& p) {
      bool ready = size_t(p.share) + 1 < all.begins.size() && (complete || p.maker == std::this_thread::get_id());
      if (ready)
        copies.push_back({p.memory, static_cast<std::byte*>(array.data) + size_t(all.begins[size_t(p.share)]) * bytes,
                          size_t(all.counts[size_t(p.share)]) * bytes});
      return ready;
    });
    if (complete) appended_.erase(&array);
  }
  for (const Copy& c : copies) {
    copy_part(c.to, c.from, c.size, size_t(array.count) * bytes, size_t(caches));
    give_memory(c.from);
  }
}

}  // namespace spdistal::codegen
