#include "memory/copy.hpp"

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include <algorithm>
#include <cstdint>

#include "base/threads.hpp"
#include "memory/pool.hpp"

namespace spdistal::memory {

void fill_bytes(void* to, std::byte value, size_t bytes) {
  constexpr size_t many = size_t(2) << 20;
  if (bytes >= many) host_pool().fill(static_cast<std::byte*>(to), value, bytes);
  else if (bytes > 0) std::memset(to, int(value), bytes);
}

void copy_large(void* to, const void* from, size_t bytes) {
  constexpr size_t chunk = size_t(1) << 20;
  auto chunks = int64_t((bytes + chunk - 1) / chunk);
#pragma omp parallel for schedule(static) num_threads(loop_threads()) if (chunks > 1)
  for (int64_t k = 0; k < chunks; k++) {
    size_t at = size_t(k) * chunk;
    copy_bytes(static_cast<std::byte*>(to) + at, static_cast<const std::byte*>(from) + at, std::min(chunk, bytes - at));
  }
}

void copy_part(void* to, const void* from, size_t bytes, size_t whole, size_t caches) {
#if defined(__SSE2__)
  constexpr size_t line = 64;
  auto* target = static_cast<std::byte*>(to);
  auto* source = static_cast<const std::byte*>(from);
  size_t head = (line - reinterpret_cast<uintptr_t>(target) % line) % line;
  if (whole > caches && bytes >= head + line) {
    std::memcpy(target, source, head);
    size_t at = head;
    for (; at + line <= bytes; at += line)
      for (size_t k = 0; k < line; k += sizeof(__m128i))
        _mm_stream_si128(reinterpret_cast<__m128i*>(target + at + k),
                         _mm_loadu_si128(reinterpret_cast<const __m128i*>(source + at + k)));
    std::memcpy(target + at, source + at, bytes - at);
    _mm_sfence();
    return;
  }
#endif
  copy_bytes(to, from, bytes);
}

void repeat_bytes(void* to, std::span<const std::byte> element, size_t bytes) {
  auto* begin = static_cast<std::byte*>(to);
  for (size_t done = 0; done < bytes;) {
    const void* from = done == 0 ? element.data() : static_cast<const void*>(begin);
    size_t next = std::min(done == 0 ? element.size() : done, bytes - done);
    copy_bytes(begin + done, from, next);
    done += next;
  }
}

}  // namespace spdistal::memory
