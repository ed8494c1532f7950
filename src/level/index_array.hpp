// The arrays of a tensor's pattern: indices, 32 bits wide unless what they hold does not fit, or flags of a byte each;
// never changed once made, shared by all who use the pattern.
#pragma once
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <type_traits>

#include "base/require.hpp"
#include "memory/buffer.hpp"

namespace spdistal {

enum class IndexWidth : uint8_t { Flag = 1, Int32 = 4, Int64 = 8 };

/// The narrowest width that holds 0 … largest.
constexpr IndexWidth width_for(int64_t largest) {
  return largest <= std::numeric_limits<int32_t>::max() ? IndexWidth::Int32 : IndexWidth::Int64;
}

class IndexArray {
 public:
  IndexArray() = default;
  IndexArray(Buffer bytes, IndexWidth width)
      : bytes_(std::make_shared<const Buffer>(std::move(bytes))),
        size_(int64_t(bytes_->size() / size_t(width))),
        width_(width) {}

  /// Makes an array of `size` indices by filling it: fill(I*) with I = int32_t or int64_t.
  template <class F>
  static IndexArray make(int64_t size, IndexWidth width, F&& fill) {
    Buffer bytes = Buffer::uninitialized(size_t(size) * size_t(width));
    if (width == IndexWidth::Int32) fill(reinterpret_cast<int32_t*>(bytes.data()));
    else fill(reinterpret_cast<int64_t*>(bytes.data()));
    return IndexArray(std::move(bytes), width);
  }

  /// The same of flags: fill(uint8_t*).
  template <class F>
  static IndexArray flags(int64_t size, F&& fill) {
    Buffer bytes = Buffer::uninitialized(size_t(size));
    fill(reinterpret_cast<uint8_t*>(bytes.data()));
    return IndexArray(std::move(bytes), IndexWidth::Flag);
  }

  int64_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  IndexWidth width() const { return width_; }
  size_t bytes() const { return size_t(size_) * size_t(width_); }
  const void* data() const { return bytes_ ? bytes_->data() : nullptr; }
  /// Does it lie in memory of somebody else?
  bool is_borrowed() const { return bytes_ && bytes_->is_borrowed(); }
  bool is_lent() const { return bytes_ && bytes_->is_lent(); }
  IndexArray clone() const { return bytes_ ? IndexArray(bytes_->clone(), width_) : IndexArray(); }
  /// Keeps the elements while somebody has it, unless they are lent.
  std::shared_ptr<const void> owner() const { return bytes_; }
  /// Where it lies: to tell arrays apart, not to read what is there.
  const void* address() const { return bytes_ ? bytes_->address() : nullptr; }
  /// Its copy on a device; none where there is no memory.
  memory::Mirror* mirror() const { return bytes_ ? &bytes_->mirror() : nullptr; }
  int64_t operator[](int64_t i) const {
    if (width_ == IndexWidth::Flag) return static_cast<const uint8_t*>(data())[i];
    return width_ == IndexWidth::Int32 ? int64_t(static_cast<const int32_t*>(data())[i])
                                       : static_cast<const int64_t*>(data())[i];
  }
  /// The elements, where I is the width they have.
  template <class I>
  std::span<const I> as() const {
    require(sizeof(I) == size_t(width_), "an index array is read with the width it has");
    return {static_cast<const I*>(data()), size_t(size_)};
  }
  /// Of indices: f(span<const int32_t>) or f(span<const int64_t>), by width.
  template <class F>
  decltype(auto) visit(F&& f) const {
    return width_ == IndexWidth::Int32 ? f(as<int32_t>()) : f(as<int64_t>());
  }

 private:
  std::shared_ptr<const Buffer> bytes_;
  int64_t size_ = 0;
  IndexWidth width_ = IndexWidth::Int32;
};

}  // namespace spdistal
