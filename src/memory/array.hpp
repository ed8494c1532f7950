// A growing array of plain values over a Buffer of the host; new elements are not initialised.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>
#include <utility>

#include "memory/buffer.hpp"
#include "memory/copy.hpp"

namespace spdistal::memory {

template <class T>
class Array {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  Array() = default;
  explicit Array(int64_t size) : buffer_(Buffer::uninitialized(size_t(size) * sizeof(T))), size_(size) {}

  int64_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  T* data() { return reinterpret_cast<T*>(buffer_.data()); }
  const T* data() const { return reinterpret_cast<const T*>(buffer_.data()); }
  T& operator[](int64_t i) { return data()[i]; }
  const T& operator[](int64_t i) const { return data()[i]; }
  T* begin() { return data(); }
  T* end() { return data() + size_; }
  const T* begin() const { return data(); }
  const T* end() const { return data() + size_; }
  std::span<T> span() { return {data(), size_t(size_)}; }
  std::span<const T> span() const { return {data(), size_t(size_)}; }

  int64_t capacity() const { return int64_t(buffer_.size() / sizeof(T)); }
  void reserve(int64_t capacity) {
    if (capacity <= this->capacity()) return;
    Buffer grown = Buffer::uninitialized(size_t(capacity) * sizeof(T));
    copy_bytes(grown.data(), buffer_.data(), size_t(size_) * sizeof(T));
    buffer_ = std::move(grown);
  }
  /// Keeps the elements that stay; shrinking gives no memory back.
  void resize(int64_t size) {
    if (size > capacity()) reserve(size > 2 * size_ ? size : 2 * size_);
    size_ = size;
  }
  void push_back(T value) {
    resize(size_ + 1);
    data()[size_ - 1] = value;
  }
  Array clone() const {
    Array out(size_);
    copy_bytes(out.data(), data(), size_t(size_) * sizeof(T));
    return out;
  }
  /// The memory itself, for whoever wants to keep it as bytes.
  Buffer release() && {
    size_ = 0;
    return std::move(buffer_);
  }

  Array(Array&& other) noexcept : buffer_(std::move(other.buffer_)), size_(std::exchange(other.size_, 0)) {}
  Array& operator=(Array&& other) noexcept {
    buffer_ = std::move(other.buffer_);
    size_ = std::exchange(other.size_, 0);
    return *this;
  }

 private:
  Buffer buffer_;
  int64_t size_ = 0;
};

}  // namespace spdistal::memory

namespace spdistal {
using memory::Array;
}
