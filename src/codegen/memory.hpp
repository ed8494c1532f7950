// The host's side of abi.h: memory that kernels take and give back, and result arrays that grow. It is kept for the
// next call, so that a kernel that runs again neither allocates nor faults pages in.
#pragma once
#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "spdistal/abi.h"

namespace spdistal::codegen {

/// Who makes room for a result array.
class ArrayOwner {
 public:
  /// Room for at least this much; what was there is lost.
  virtual void* reserve(size_t bytes) = 0;

 protected:
  ~ArrayOwner() = default;
};

/// Bytes that grow and are kept, aligned to 64.
class Buffer final : public ArrayOwner {
 public:
  /// What was there is lost only where it has to grow.
  void* reserve(size_t bytes) override;
  void* data() { return data_.get(); }
  size_t capacity() const { return capacity_; }

 private:
  struct Free {
    void operator()(void* memory) const;
  };
  std::unique_ptr<void, Free> data_;
  size_t capacity_ = 0;
};

/// An spd_context. Arrays that kernels resize have an ArrayOwner* as their owner.
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
  void give_memory(void* memory);
  void append_part(spd_array& array, int64_t shares, int64_t share, void*& part, int64_t count, size_t bytes);

  std::mutex mutex_;
  std::map<spd_array*, Appended> appended_;
  struct Free {
    Buffer buffer;
    std::thread::id last;  // who gave it back
  };
  std::multimap<size_t, Free> free_;  // by capacity
  std::map<void*, Buffer> taken_;
};

}  // namespace spdistal::codegen
