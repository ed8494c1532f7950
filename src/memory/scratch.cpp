#include "memory/scratch.hpp"

#include <algorithm>
#include <bit>
#include <new>

#include "base/require.hpp"

namespace spdistal::memory {

void* Scratch::take(size_t bytes, int64_t threads) {
  constexpr size_t large = size_t{1} << 20, plenty = 8;
  std::lock_guard lock(mutex_);
  // Sizes that differ a little serve each other.
  if (size_t step = std::bit_floor(bytes) / 4; step > 64) bytes = (bytes + step - 1) / step * step;
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
  buffer.reserve(bytes);
  void* memory = buffer.data();
  taken_.emplace(memory, std::move(buffer));
  return memory;
}

void Scratch::give(void* memory) {
  if (memory == nullptr) return;
  std::lock_guard lock(mutex_);
  auto it = taken_.find(memory);
  require(it != taken_.end(), "memory is given back once, and where it was taken");
  Buffer buffer = std::move(it->second);
  taken_.erase(it);
  size_t capacity = buffer.capacity();
  try {
    free_.emplace(capacity, Free{std::move(buffer), std::this_thread::get_id()});
  } catch (const std::bad_alloc&) {}  // it is given back in destructors: without room to keep it, it is freed
}

}  // namespace spdistal::memory
