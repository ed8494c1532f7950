#include "runtime/region/buffer.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <new>
#include <utility>

#include "base/require.hpp"

namespace spdistal::runtime {

Buffer Buffer::borrow(std::span<std::byte> bytes) {
  Buffer out;
  out.data_ = bytes.data();
  out.size_ = out.capacity_ = bytes.size();
  out.owner_ = Owner::Elsewhere;
  return out;
}

void Buffer::grow(size_t bytes) {
  if (bytes <= capacity_) {
    size_ = std::max(size_, bytes);
    return;
  }
  require(owner_ == Owner::Here, "only memory of the buffer's own can grow");
  size_t unit = bytes >= huge_page ? huge_page : alignment;
  if (bytes > SIZE_MAX - unit) throw std::bad_alloc();
  size_t capacity = (bytes + unit - 1) / unit * unit;
  auto* fresh = static_cast<std::byte*>(std::aligned_alloc(unit, capacity));
  if (!fresh) throw std::bad_alloc();
  // A hint; where it is refused, small pages do.
  if (unit == huge_page) (void)madvise(fresh, capacity, MADV_HUGEPAGE);
  if (size_ > 0) std::memcpy(fresh, data_, size_);
  std::memset(fresh + size_, 0, capacity - size_);
  std::free(data_);
  data_ = fresh;
  size_ = bytes;
  capacity_ = capacity;
}

void Buffer::swap(Buffer& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  std::swap(capacity_, other.capacity_);
  std::swap(owner_, other.owner_);
}

void Buffer::release() {
  if (owner_ == Owner::Here) std::free(data_);
}

}  // namespace spdistal::runtime
