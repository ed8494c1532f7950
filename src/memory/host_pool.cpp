// The host's memory: small blocks from the C library; large ones stand on huge pages, and those given back are kept for
// whoever wants memory next: the system clears every page that it hands out, which costs more than most of what is done
// with it. Of those that lie around for a while it may take the pages away; to say so of every block at once makes what
// is computed next slower, by up to a tenth.
#include <sys/mman.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "base/threads.hpp"
#include "memory/out_of_memory.hpp"
#include "memory/pool.hpp"

namespace spdistal::memory {
namespace {

constexpr size_t huge_page = size_t(2) << 20;

constexpr size_t rounded_up(size_t bytes, size_t unit) { return (bytes + unit - 1) / unit * unit; }

class FreeBlocks {
 public:
  /// A block of at least `bytes` and not much more, if there is one: one that the system was not offered before others, the
  /// smallest of them, and the one that was given last. Pages that the system took cost more than room.
  std::optional<PoolBlock> take(size_t bytes) {
    std::lock_guard lock(mutex_);
    auto rank = [](const Kept& block) { return std::pair(block.offered, block.bytes); };
    size_t best = blocks_.size();
    for (size_t k = 0; k < blocks_.size(); k++)
      if (blocks_[k].bytes >= bytes && blocks_[k].bytes <= bytes + bytes / 4 &&
          (best == blocks_.size() || rank(blocks_[k]) <= rank(blocks_[best])))
        best = k;
    if (best == blocks_.size()) return std::nullopt;
    PoolBlock out = blocks_[best];
    blocks_.erase(blocks_.begin() + std::ptrdiff_t(best));
    kept_ -= out.bytes;
    return out;
  }

  void give(PoolBlock block) {
    constexpr size_t in_use = 8;  // as many as a program in a loop gives back and takes again
    std::lock_guard lock(mutex_);
    block.contents = PoolBlock::Contents::Unknown;
    blocks_.push_back({block, false});
    kept_ += block.bytes;
    for (size_t k = 0; k + in_use < blocks_.size(); k++)
      if (!std::exchange(blocks_[k].offered, true)) madvise(blocks_[k].data, blocks_[k].bytes, MADV_FREE);
    while (kept_ > physical_memory() / 8 || blocks_.size() > 64) drop_oldest();
  }

  void drop_all() {
    std::lock_guard lock(mutex_);
    while (!blocks_.empty()) drop_oldest();
  }

 private:
  struct Kept : PoolBlock {
    bool offered;  // to the system, which may take its pages
  };

  void drop_oldest() {
    munmap(blocks_.front().data, blocks_.front().bytes);
    kept_ -= blocks_.front().bytes;
    blocks_.erase(blocks_.begin());
  }

  std::mutex mutex_;
  std::vector<Kept> blocks_;
  size_t kept_ = 0;
};

// Anonymous memory starting at a huge page, cleared by the system when first touched.
PoolBlock map_pages(size_t bytes) {
  size_t mapped = rounded_up(bytes, huge_page), room = mapped + huge_page;
  void* at = mmap(nullptr, room, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (at == MAP_FAILED) return {};
  auto begin = reinterpret_cast<uintptr_t>(at), aligned = rounded_up(begin, huge_page);
  if (aligned > begin) munmap(at, aligned - begin);
  if (size_t tail = begin + room - aligned - mapped) munmap(reinterpret_cast<void*>(aligned + mapped), tail);
  void* data = reinterpret_cast<void*>(aligned);
  madvise(data, mapped, MADV_HUGEPAGE);  // a wish: refusal costs speed only
  return {static_cast<std::byte*>(data), mapped, PoolBlock::Contents::Zero};
}

class HostPool final : public Pool {
 public:
  PoolBlock take(size_t bytes) override {
    if (bytes > SIZE_MAX / 2) return {};
    if (bytes + alignment < huge_page) {
      size_t room = bytes / alignment * alignment + alignment;
      return {static_cast<std::byte*>(std::aligned_alloc(alignment, room)), room};
    }
    if (std::optional<PoolBlock> kept = free_.take(rounded_up(bytes, huge_page))) return *kept;
    PoolBlock fresh = map_pages(bytes);
    if (fresh.data) return fresh;
    free_.drop_all();
    return map_pages(bytes);
  }

  void give(PoolBlock block) noexcept override {
    if (is_large(block)) free_.give(block);
    else std::free(block.data);
  }

  void drop_idle() { free_.drop_all(); }

  // Pages move as they are: the system is told of another place for them.
  Grown grow(PoolBlock block, size_t front, size_t bytes) noexcept override {
    if (!is_large(block) || block.is_joined || front > SIZE_MAX / 4 || bytes > SIZE_MAX / 4) return {};
    size_t before = rounded_up(front, huge_page), room = rounded_up(std::max(bytes, block.bytes), huge_page);
    if (before == 0 && mremap(block.data, block.bytes, room, 0) != MAP_FAILED) return {{block.data, room}, 0};
    PoolBlock fresh = map_pages(before + room);
    if (!fresh.data) return {};
    if (mremap(block.data, block.bytes, room, MREMAP_MAYMOVE | MREMAP_FIXED, fresh.data + before) != MAP_FAILED)
      return {{fresh.data, before + room, PoolBlock::Contents::Unknown, before > 0}, before};
    munmap(fresh.data, fresh.bytes);
    return {};
  }

  void fill(std::byte* to, std::byte value, size_t bytes) override {
#pragma omp parallel for schedule(static) num_threads(loop_threads()) if (bytes >= huge_page)
    for (size_t at = 0; at < bytes; at += huge_page) std::memset(to + at, int(value), std::min(huge_page, bytes - at));
  }

  void copy(std::byte* to, const std::byte* from, size_t bytes) override {
    if (bytes > 0) std::memcpy(to, from, bytes);
  }

  void drop_behind(PoolBlock block, size_t bytes) noexcept override {
    size_t kept = rounded_up(bytes, huge_page);
    if (is_large(block) && kept < block.bytes) madvise(block.data + kept, block.bytes - kept, MADV_DONTNEED);
  }

 private:
  // Small blocks are smaller than a page.
  static bool is_large(const PoolBlock& block) { return block.bytes >= huge_page; }

  FreeBlocks free_;
};

HostPool& the_pool() {
  static auto* pool = new HostPool;  // never destroyed: buffers of other static objects may come later
  return *pool;
}

}  // namespace

Pool& host_pool() { return the_pool(); }

void give_back_idle(size_t bytes) {
  constexpr size_t many = size_t(16) << 20;
  if (bytes < many) return;
  the_pool().drop_idle();
#ifdef __GLIBC__
  malloc_trim(0);
#endif
}

}  // namespace spdistal::memory
