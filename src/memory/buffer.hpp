// Memory for tensors: bytes with a place and one owner, aligned to 64. Nothing is initialised unless asked for.
//
// Memory of the host may have a copy on a device (`mirror`), where kernels read and write it; who asks for `data` gets what
// was written last, wherever that was. Who keeps a pointer asks again before using it after kernels have run.
#pragma once
#include <cstddef>
#include <memory>
#include <span>
#include <utility>

#include "memory/mirror.hpp"
#include "memory/out_of_memory.hpp"
#include "memory/place.hpp"

namespace spdistal::memory {

class Buffer {
 public:
  Buffer() = default;
  /// Throws OutOfMemory where there is no more, as do all below.
  static Buffer uninitialized(size_t bytes, Place place = host);
  static Buffer zeroed(size_t bytes, Place place = host);
  /// Memory of somebody else, used in place: `owner` lives as long as the buffer does. Without one, whoever borrows sees
  /// to that.
  static Buffer borrowed(std::span<std::byte> bytes, std::shared_ptr<const void> owner = nullptr, Place place = host);

  std::byte* data() {
    if (mirror_) mirror_->change();
    return memory_.get();
  }
  const std::byte* data() const {
    if (mirror_) mirror_->look();
    return memory_.get();
  }
  /// Where it lies: to tell buffers apart, not to read what is there.
  const std::byte* address() const { return memory_.get(); }
  /// Its copy on a device, made when it is first asked for; the same one as long as the memory is there.
  Mirror& mirror() const;
  size_t size() const { return bytes_; }
  /// What `reserve` can give without asking for more.
  size_t capacity() const { return capacity_; }
  /// Room before the first byte.
  size_t front() const { return front_; }
  Place place() const { return place_; }
  bool is_borrowed() const { return is_borrowed_; }
  /// Borrowed from somebody who keeps it himself: it may be gone once he has been told that nobody reads it any more.
  bool is_lent() const { return is_borrowed_ && memory_.use_count() == 0; }
  /// Keeps the memory while somebody has it.
  std::shared_ptr<const void> owner() const { return memory_; }

  /// At the same place, owned.
  Buffer clone() const;
  /// Keeps the first bytes; the system has back what lay behind them.
  void shrink(size_t bytes);
  /// Room for so many bytes from the first on, and in front of it: `capacity` is as large, `size` stays, what is there is kept. It
  /// may come to lie elsewhere; borrowed memory cannot.
  void make_room(size_t bytes, size_t front = 0);
  /// So many bytes. What was there is lost where they take other memory; borrowed memory cannot be exchanged.
  void reserve(size_t bytes);

  Buffer(Buffer&& other) noexcept { *this = std::move(other); }
  Buffer& operator=(Buffer&& other) noexcept {
    memory_ = std::move(other.memory_);
    bytes_ = std::exchange(other.bytes_, 0);
    capacity_ = std::exchange(other.capacity_, 0);
    front_ = std::exchange(other.front_, 0);
    place_ = std::exchange(other.place_, host);
    is_borrowed_ = std::exchange(other.is_borrowed_, false);
    mirror_ = std::move(other.mirror_);
    return *this;
  }

 private:
  std::shared_ptr<std::byte> memory_;  // its first byte, with what it has in front; null where there is none
  size_t bytes_ = 0, capacity_ = 0, front_ = 0;
  Place place_ = host;
  bool is_borrowed_ = false;
  mutable std::unique_ptr<Mirror> mirror_;
};

}  // namespace spdistal::memory

namespace spdistal {
using memory::Buffer;
}
