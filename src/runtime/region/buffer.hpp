// Memory of instances and messages: aligned to cache lines, to huge pages where large, kept and reused when the wanted
// size shrinks or comes again. Fresh memory is zero.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>

namespace spdistal::runtime {

class Buffer {
 public:
  static constexpr size_t alignment = 64;
  static constexpr size_t huge_page = size_t(2) << 20;

  Buffer() = default;
  explicit Buffer(size_t bytes) { grow(bytes); }
  /// Memory of somebody else, who keeps it alive; it cannot grow.
  static Buffer borrow(std::span<std::byte> bytes);
  ~Buffer() { release(); }
  Buffer(Buffer&& other) noexcept { swap(other); }
  Buffer& operator=(Buffer&& other) noexcept {
    swap(other);
    return *this;
  }

  std::byte* data() { return data_; }
  const std::byte* data() const { return data_; }
  size_t size() const { return size_; }
  size_t capacity() const { return capacity_; }

  /// At least so many bytes; what is there stays, though it may move.
  void grow(size_t bytes);

 private:
  void swap(Buffer& other) noexcept;
  void release();

  std::byte* data_ = nullptr;
  size_t size_ = 0, capacity_ = 0;
  enum class Owner { Here, Elsewhere } owner_ = Owner::Here;
};

}  // namespace spdistal::runtime
