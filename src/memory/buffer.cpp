#include "memory/buffer.hpp"

#include <atomic>
#include <optional>
#include <utility>

#include "base/require.hpp"
#include "memory/poison.hpp"
#include "memory/pool.hpp"

namespace spdistal::memory {
namespace {

std::atomic<size_t> held = 0, most = SIZE_MAX;

// Gives a block back, however it comes to be dropped.
struct GiveBack {
  Pool* pool;
  PoolBlock block;
  void operator()(std::byte*) const noexcept {
    held.fetch_sub(block.bytes, std::memory_order_relaxed);
    if (pool) pool->give(block);
  }
};

struct Taken {
  std::shared_ptr<std::byte> data;
  size_t bytes;
  PoolBlock::Contents contents;
};

bool exceeds_limit(size_t bytes) {
  size_t limit = most.load(std::memory_order_relaxed);
  return bytes > limit || held.load(std::memory_order_relaxed) > limit - bytes;
}

Taken take(size_t bytes, Place place) {
  Pool& pool = pool_of(place);
  if (exceeds_limit(bytes)) throw OutOfMemory(bytes, place, Purpose::current());
  PoolBlock block = pool.take(bytes);
  if (!block.data) throw OutOfMemory(bytes, place, Purpose::current());
  held.fetch_add(block.bytes, std::memory_order_relaxed);
  return {{block.data, GiveBack{&pool, block}}, block.bytes, block.contents};
}

// Memory from a byte of a block on, which keeps all of it.
std::shared_ptr<std::byte> from(size_t first, std::shared_ptr<std::byte> block) {
  std::byte* at = block.get() + first;
  return {std::move(block), at};
}

// A block with room in front of what it had before.
struct Grown {
  std::shared_ptr<std::byte> block;
  size_t bytes, front;
};

// The same block with more around it, where nobody else has it and the pool can do that.
std::optional<Grown> grow(const std::shared_ptr<std::byte>& memory, size_t front, size_t bytes) {
  GiveBack* held_by = std::get_deleter<GiveBack>(memory);
  if (!held_by || memory.use_count() != 1) return std::nullopt;
  auto [pool, block] = *held_by;
  if (front + bytes > block.bytes && exceeds_limit(front + bytes - block.bytes)) return std::nullopt;
  Pool::Grown grown = pool->grow(block, front, bytes);
  if (!grown.block.data) return std::nullopt;
  held_by->pool = nullptr;  // nothing is left to give back
  held.fetch_add(grown.block.bytes, std::memory_order_relaxed);
  return Grown{{grown.block.data, GiveBack{pool, grown.block}}, grown.block.bytes, grown.front};
}

}  // namespace

size_t bytes_held() { return held.load(std::memory_order_relaxed); }
void set_limit(size_t bytes) { most = bytes; }

Buffer Buffer::uninitialized(size_t bytes, Place place) {
  Taken taken = take(bytes, place);
  Buffer out;
  out.memory_ = std::move(taken.data);
  out.bytes_ = bytes;
  out.capacity_ = taken.bytes;
  out.place_ = place;
  if (place.is_visible()) poison_fresh({out.data(), bytes});
  return out;
}

Buffer Buffer::zeroed(size_t bytes, Place place) {
  Taken taken = take(bytes, place);
  if (taken.contents != PoolBlock::Contents::Zero) pool_of(place).fill(taken.data.get(), std::byte(0), bytes);
  Buffer out;
  out.memory_ = std::move(taken.data);
  out.bytes_ = bytes;
  out.capacity_ = taken.bytes;
  out.place_ = place;
  return out;
}

Buffer Buffer::borrowed(std::span<std::byte> bytes, std::shared_ptr<const void> owner, Place place) {
  Buffer out;
  out.memory_ = std::shared_ptr<std::byte>(std::move(owner), bytes.data());
  out.bytes_ = out.capacity_ = bytes.size();
  out.place_ = place;
  out.is_borrowed_ = true;
  return out;
}

Mirror& Buffer::mirror() const {
  require(place_.is_visible(), "memory of the host has a copy on a device");
  if (!mirror_) mirror_ = std::make_unique<Mirror>(std::span(memory_.get(), bytes_));
  return *mirror_;
}

Buffer Buffer::clone() const {
  Buffer out = uninitialized(bytes_, place_);
  if (mirror_)
    if (std::optional<Buffer> newer = mirror_->newer()) {
      out.mirror().adopt(std::move(*newer));
      return out;
    }
  if (bytes_ > 0) pool_of(place_).copy(out.data(), data(), bytes_);
  return out;
}

void Buffer::shrink(size_t bytes) {
  require(bytes <= bytes_, "a buffer shrinks to less than it was");
  bytes_ = bytes;
  if (mirror_) mirror_->shrink(bytes);
  if (!is_borrowed_ && memory_)
    pool_of(place_).drop_behind({memory_.get() - front_, front_ + capacity_}, front_ + bytes);
}

// What others keep around the bytes that are in use goes along.
void Buffer::make_room(size_t bytes, size_t front) {
  if (bytes <= capacity_ && front <= front_) return;
  require(!is_borrowed_, "borrowed memory is as large as it is");
  size_t more = front > front_ ? front - front_ : 0, had = front_ + capacity_;
  auto now = [&](std::shared_ptr<std::byte> block, size_t all, size_t added) {
    if (place_.is_visible()) {
      poison_fresh({block.get(), added});
      poison_fresh({block.get() + added + had, all - added - had});
    }
    front_ += added;
    capacity_ = all - front_;
    memory_ = from(front_, std::move(block));
  };
  if (!mirror_ && memory_)
    if (std::optional<Grown> grown = grow(memory_, more, front_ + std::max(bytes, capacity_)))
      return now(std::move(grown->block), grown->bytes, grown->front);
  more = (more + alignment - 1) / alignment * alignment;
  Taken taken = take(more + front_ + std::max(bytes, capacity_), place_);
  if (had > 0) pool_of(place_).copy(taken.data.get() + more, std::as_const(*this).data() - front_, had);
  mirror_.reset();
  now(std::move(taken.data), taken.bytes, more);
}

void Buffer::reserve(size_t bytes) {
  if (mirror_) mirror_->look();
  mirror_.reset();
  if (bytes > capacity_ || !memory_) {
    require(!is_borrowed_, "borrowed memory is as large as it is");
    Place place = place_;
    *this = Buffer();
    *this = uninitialized(bytes, place);
    return;
  }
  bytes_ = bytes;
  if (place_.is_visible() && !is_borrowed_) poison_fresh({data(), bytes});
}

}  // namespace spdistal::memory
