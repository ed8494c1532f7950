// Memory that is taken for a while, given back, and taken again by later ones: whoever runs again neither allocates nor
// faults pages in.
#pragma once
#include <array>
#include <atomic>
#include <cstddef>
#include <map>
#include <mutex>

#include "memory/buffer.hpp"

namespace spdistal::memory {

/// Threads get back what they gave, which is in their caches: what another gave is left alone unless it is large or there is
/// plenty. Each has a shelf of its own, so that they do not wait for each other.
class Scratch {
 public:
  /// From any thread. Throws OutOfMemory.
  void* take(size_t bytes, int64_t threads);
  /// Once, from any thread; null is nothing.
  void give(void* memory);

 private:
  struct Shelf {
    std::mutex mutex = {};
    std::multimap<size_t, Buffer> free = {};  // by capacity
  };
  struct Taken {
    std::mutex mutex = {};
    std::map<void*, Buffer> of = {};
  };
  static constexpr size_t shelf_count = 64;

  Shelf& own_shelf();
  Taken& taken_at(void* memory);
  /// What a shelf has of so many bytes, or nothing.
  Buffer from(Shelf& shelf, size_t bytes);
  /// What any shelf has: of so many bytes, else its largest, which grows.
  Buffer from_any(size_t bytes);

  std::array<Shelf, shelf_count> shelves_ = {};
  std::array<Taken, shelf_count> taken_ = {};  // by address
  std::atomic<size_t> free_count_ = 0;
};

}  // namespace spdistal::memory
