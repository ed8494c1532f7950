// The host's side of abi.h: memory that kernels take and give back, and result arrays that grow. It is kept for the
// next call, so that a kernel that runs again neither allocates nor faults pages in.
#pragma once
#include <cstddef>
#include <map>
#include <memory>
#include <mutex>

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
  void* take_memory(size_t bytes, bool zeroed);
  void give_memory(void* memory);

  std::mutex mutex_;
  std::multimap<size_t, Buffer> free_;  // by capacity
  std::map<void*, Buffer> taken_;
};

}  // namespace spdistal::codegen
