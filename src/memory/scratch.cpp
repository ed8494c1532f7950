#include "memory/scratch.hpp"

#include <bit>
#include <iterator>
#include <new>

#include "base/require.hpp"

namespace spdistal::memory {

Scratch::Shelf& Scratch::own_shelf() {
  static std::atomic<size_t> threads = 0;
  static thread_local const size_t number = threads++;
  return shelves_[number % shelf_count];
}

Scratch::Taken& Scratch::taken_at(void* memory) {
  constexpr size_t page = 4096;
  return taken_[reinterpret_cast<uintptr_t>(memory) / page % shelf_count];
}

Buffer Scratch::from(Shelf& shelf, size_t bytes) {
  std::lock_guard lock(shelf.mutex);
  auto found = shelf.free.lower_bound(bytes);
  if (found == shelf.free.end()) return {};
  Buffer out = std::move(found->second);
  shelf.free.erase(found);
  free_count_--;
  return out;
}

Buffer Scratch::from_any(size_t bytes) {
  for (Shelf& shelf : shelves_)
    if (Buffer out = from(shelf, bytes); out.capacity() > 0) return out;
  for (Shelf& shelf : shelves_) {
    std::lock_guard lock(shelf.mutex);
    if (shelf.free.empty()) continue;
    auto largest = std::prev(shelf.free.end());
    Buffer out = std::move(largest->second);
    shelf.free.erase(largest);
    free_count_--;
    return out;
  }
  return {};
}

void* Scratch::take(size_t bytes, int64_t threads) {
  constexpr size_t large = size_t{1} << 20, plenty = 8;
  // Sizes that differ a little serve each other.
  if (size_t step = std::bit_floor(bytes) / 4; step > 64) bytes = (bytes + step - 1) / step * step;
  Buffer buffer = from(own_shelf(), bytes);
  if (buffer.capacity() == 0 && (bytes >= large || free_count_ >= size_t(threads) * plenty)) buffer = from_any(bytes);
  buffer.reserve(bytes);
  void* memory = buffer.data();
  Taken& taken = taken_at(memory);
  std::lock_guard lock(taken.mutex);
  taken.of.emplace(memory, std::move(buffer));
  return memory;
}

void Scratch::give(void* memory) {
  if (memory == nullptr) return;
  Buffer buffer = [&] {
    Taken& taken = taken_at(memory);
    std::lock_guard lock(taken.mutex);
    auto it = taken.of.find(memory);
    require(it != taken.of.end(), "memory is given back once, and where it was taken");
    Buffer out = std::move(it->second);
    taken.of.erase(it);
    return out;
  }();
  size_t capacity = buffer.capacity();
  Shelf& shelf = own_shelf();
  std::lock_guard lock(shelf.mutex);
  try {
    shelf.free.emplace(capacity, std::move(buffer));
    free_count_++;
  } catch (const std::bad_alloc&) {}  // it is given back in destructors: without room to keep it, it is freed
}

}  // namespace spdistal::memory
