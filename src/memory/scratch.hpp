// Memory that is taken for a while, given back, and taken again by later ones: whoever runs again neither allocates nor
// faults pages in.
#pragma once
#include <cstddef>
#include <map>
#include <mutex>
#include <thread>

#include "memory/buffer.hpp"

namespace spdistal::memory {

/// Threads get back what they gave, which is in their caches: what another gave is left alone unless it is large or there is
/// plenty.
class Scratch {
 public:
  /// From any thread. Throws OutOfMemory.
  void* take(size_t bytes, int64_t threads);
  /// Once, from any thread; null is nothing.
  void give(void* memory);

 private:
  struct Free {
    Buffer buffer;
    std::thread::id last;  // who gave it back
  };
  std::mutex mutex_;
  std::multimap<size_t, Free> free_;  // by capacity
  std::map<void*, Buffer> taken_;
};

}  // namespace spdistal::memory
