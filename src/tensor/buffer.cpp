#include "tensor/buffer.hpp"

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

namespace spdistal {
namespace {

constexpr size_t huge_page = size_t(2) << 20;

[[noreturn]] void out_of_memory(size_t bytes) {
  throw SystemError(fmt::format("out of memory: the system did not give {}", describe_bytes(double(bytes))));
}

struct Block {
  std::byte* data = nullptr;
  size_t bytes = 0;
  bool offered = false;  // to the system, which may take its pages
};

// Large blocks that were given back, kept for whoever wants memory next: the system clears every page that it hands
// out, which costs more than most of what is done with it. Of those that lie around for a while it may take the pages away;
// to say so of every block at once makes what is computed next slower, by up to a tenth.
class FreeBlocks {
 public:
  // A block of at least `bytes` and not much more, if there is one.
  std::optional<Block> take(size_t bytes) {
    std::lock_guard lock(mutex_);
    size_t best = blocks_.size();
    for (size_t k = 0; k < blocks_.size(); k++)
      if (blocks_[k].bytes >= bytes && blocks_[k].bytes <= bytes + bytes / 4 &&
          (best == blocks_.size() || blocks_[k].bytes < blocks_[best].bytes))
        best = k;
    if (best == blocks_.size()) return std::nullopt;
    Block out = blocks_[best];
    blocks_.erase(blocks_.begin() + std::ptrdiff_t(best));
    kept_ -= out.bytes;
    return out;
  }

  void give(Block block) {
    constexpr size_t in_use = 8;  // as many as a program in a loop gives back and takes again
    std::lock_guard lock(mutex_);
    blocks_.push_back(block);
    kept_ += block.bytes;
    for (size_t k = 0; k + in_use < blocks_.size(); k++)
      if (!std::exchange(blocks_[k].offered, true)) madvise(blocks_[k].data, blocks_[k].bytes, MADV_FREE);
    while (kept_ > physical_memory() / 8 || blocks_.size() > 64) {  // the oldest goes first
      munmap(blocks_.front().data, blocks_.front().bytes);
      kept_ -= blocks_.front().bytes;
      blocks_.erase(blocks_.begin());
    }
  }

 private:
  std::mutex mutex_;
  std::vector<Block> blocks_;
  size_t kept_ = 0;
};

FreeBlocks& free_blocks() {
  static auto* blocks = new FreeBlocks;  // never destroyed: buffers of other static objects may come later
  return *blocks;
}

// Anonymous memory starting at a huge page, cleared by the system when first touched.
Block map_pages(size_t bytes) {
  size_t mapped = (bytes + huge_page - 1) / huge_page * huge_page, room = mapped + huge_page;
  void* at = mmap(nullptr, room, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (at == MAP_FAILED) out_of_memory(bytes);
  auto begin = reinterpret_cast<uintptr_t>(at), aligned = (begin + huge_page - 1) / huge_page * huge_page;
  if (aligned > begin) munmap(at, aligned - begin);
  if (size_t tail = begin + room - aligned - mapped) munmap(reinterpret_cast<void*>(aligned + mapped), tail);
  void* data = reinterpret_cast<void*>(aligned);
  madvise(data, mapped, MADV_HUGEPAGE);  // a wish: refusal costs speed only
  return {static_cast<std::byte*>(data), mapped, false};
}

struct Memory {
  std::shared_ptr<std::byte> data;
  bool cleared;
};

Memory large_memory(size_t bytes) {
  if (bytes > SIZE_MAX / 2) out_of_memory(bytes);
  auto reused = free_blocks().take(bytes);
  Block block = reused ? *reused : map_pages(bytes);
  return {{block.data, [size = block.bytes](std::byte* data) { free_blocks().give({data, size, false}); }}, !reused};
}

Memory small_memory(size_t bytes) {
  void* at = std::aligned_alloc(64, bytes / 64 * 64 + 64);
  if (!at) out_of_memory(bytes);
  return {{static_cast<std::byte*>(at), [](std::byte* data) { std::free(data); }}, false};
}

Memory memory(size_t bytes) { return bytes >= huge_page ? large_memory(bytes) : small_memory(bytes); }

}  // namespace

std::string describe_bytes(double bytes) {
  constexpr const char* units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  size_t unit = 0;
  while (bytes >= 1024 && unit + 1 < std::size(units)) bytes /= 1024, unit++;
  return unit == 0 ? fmt::format("{:.0f} B", bytes) : fmt::format("{:.1f} {}", bytes, units[unit]);
}

size_t physical_memory() {
  static const size_t bytes = size_t(sysconf(_SC_PHYS_PAGES)) * size_t(sysconf(_SC_PAGESIZE));
  return bytes;
}

Buffer Buffer::uninitialized(size_t bytes) {
  Buffer out;
  out.memory_ = memory(bytes).data;
  out.bytes_ = bytes;
  return out;
}

Buffer Buffer::zeroed(size_t bytes) {
  Memory fresh = memory(bytes);
  Buffer out;
  out.memory_ = fresh.data;
  out.bytes_ = bytes;
  if (fresh.cleared) return out;
#pragma omp parallel for schedule(static) if (bytes >= huge_page)
  for (size_t at = 0; at < bytes; at += huge_page) std::memset(out.data() + at, 0, std::min(huge_page, bytes - at));
  return out;
}

void Buffer::shrink(size_t bytes) {
  size_t kept = (bytes + huge_page - 1) / huge_page * huge_page;
  if (bytes_ >= huge_page && kept < bytes_) madvise(data() + kept, bytes_ - kept, MADV_DONTNEED);
  bytes_ = bytes;
}

Buffer Buffer::clone() const {
  Buffer out = uninitialized(bytes_);
  if (bytes_ > 0) std::memcpy(out.data(), data(), bytes_);
  return out;
}

}  // namespace spdistal
