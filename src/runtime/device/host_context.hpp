// The host's side of abi.h: memory that kernels take and give back, and result arrays that grow. It is kept for the
// next call, so that a kernel that runs again neither allocates nor faults pages in.
#pragma once
#include <atomic>
#include <cstddef>
#include <exception>
#include <map>
#include <mutex>
#include <thread>
#include <vector>

#include "memory/buffer.hpp"
#include "memory/scratch.hpp"
#include "spdistal/abi.h"

namespace spdistal::runtime {

/// A result array that a kernel makes room for: what the `owner` of such an spd_array points to.
class ResultArray {
 public:
  /// Room for so much; what was there is lost.
  void* reserve(size_t bytes);
  /// Takes memory of a device in the place of what was there: who looks at it on the host gets a copy.
  void* adopt(memory::Buffer on_device);
  /// The memory, filled with `count` elements, for whoever keeps it.
  memory::Buffer take(int64_t count, size_t element);

 private:
  memory::Buffer memory_;
};

/// An spd_context.
class HostContext : public spd_context {
 public:
  /// Kernels whose tensors store fewer elements than `smallest_shared` run on one thread.
  explicit HostContext(int64_t threads = 1, int64_t smallest_shared = 0);
  HostContext(const HostContext&) = delete;
  HostContext& operator=(const HostContext&) = delete;

  /// Several shares for each of several threads: what weighs the same may take longer.
  void use(int64_t thread_count);

  int64_t smallest_shared;

 private:
  /// What was appended to a result array so far.
  struct Appended {
    struct Part {
      int64_t share;
      void* memory;
      std::thread::id maker;
    };
    std::vector<int64_t> counts, begins;  // of shares; begins of those whose place is known, and of the next
    std::vector<Part> waiting;
  };

  void* take_memory(size_t bytes, bool zeroed);
  void append_part(spd_array& array, int64_t shares, int64_t share, void*& part, int64_t count, size_t bytes);

  void remember_failure();
  void rethrow_failure();

  memory::Scratch scratch_;
  std::mutex mutex_;
  std::map<spd_array*, Appended> appended_;
  std::atomic<bool> has_failed_ = false;
  std::exception_ptr failure_;  // what the first share to fail caught
};

}  // namespace spdistal::runtime
