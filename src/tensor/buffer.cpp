#include "tensor/buffer.hpp"

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>

namespace spdistal {
namespace {

constexpr size_t huge_page = size_t(2) << 20;

[[noreturn]] void out_of_memory(size_t bytes) {
  throw SystemError(fmt::format("out of memory: the system did not give {}", describe_bytes(double(bytes))));
}

// Anonymous memory starting at a huge page, zeroed by the system when first touched.
std::shared_ptr<std::byte> map_pages(size_t bytes) {
  if (bytes > SIZE_MAX / 2) out_of_memory(bytes);
  size_t mapped = (bytes + huge_page - 1) / huge_page * huge_page, room = mapped + huge_page;
  void* at = mmap(nullptr, room, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (at == MAP_FAILED) out_of_memory(bytes);
  auto begin = reinterpret_cast<uintptr_t>(at), aligned = (begin + huge_page - 1) / huge_page * huge_page;
  if (aligned > begin) munmap(at, aligned - begin);
  if (size_t tail = begin + room - aligned - mapped) munmap(reinterpret_cast<void*>(aligned + mapped), tail);
  void* data = reinterpret_cast<void*>(aligned);
  madvise(data, mapped, MADV_HUGEPAGE);  // a wish: refusal costs speed only
  return {static_cast<std::byte*>(data), [mapped](std::byte* p) { munmap(p, mapped); }};
}

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
  out.bytes_ = bytes;
  if (bytes >= huge_page) {
    out.memory_ = map_pages(bytes);
  } else {
    void* at = std::aligned_alloc(64, (bytes + 63) / 64 * 64 + (bytes == 0 ? 64 : 0));
    if (!at) out_of_memory(bytes);
    out.memory_ = {static_cast<std::byte*>(at), [](std::byte* p) { std::free(p); }};
  }
  return out;
}

Buffer Buffer::zeroed(size_t bytes) {
  Buffer out = uninitialized(bytes);
  if (bytes < huge_page) std::memset(out.data(), 0, bytes);
  return out;
}

Buffer Buffer::kept_by(std::shared_ptr<void> owner, std::byte* data, size_t bytes) {
  Buffer out;
  out.memory_ = std::shared_ptr<std::byte>(std::move(owner), data);
  out.bytes_ = bytes;
  return out;
}

Buffer Buffer::clone() const {
  Buffer out = uninitialized(bytes_);
  if (bytes_ > 0) std::memcpy(out.data(), data(), bytes_);
  return out;
}

}  // namespace spdistal
