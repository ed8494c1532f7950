#include "io/checksum.hpp"

#include <algorithm>
#include <bit>
#include <vector>

#include "memory/copy.hpp"

namespace spdistal {
namespace {

constexpr size_t block_bytes = size_t(1) << 20;
constexpr uint64_t odd1 = 0x9E3779B185EBCA87u, odd2 = 0xC2B2AE3D27D4EB4Fu;

uint64_t mixed(uint64_t x) {
  x = (x ^ (x >> 33)) * odd2;
  x = (x ^ (x >> 29)) * odd1;
  return x ^ (x >> 32);
}

// Four lanes of 64-bit words, so that multiplications overlap; words are taken as little-endian.
uint64_t block_sum(const std::byte* data, size_t bytes) {
  uint64_t lanes[4] = {odd1, odd2, odd1 ^ odd2, odd1 + odd2};
  auto word = [](const std::byte* at, size_t n) {
    uint64_t w = 0;
    memory::copy_bytes(&w, at, n);
    if constexpr (std::endian::native == std::endian::big) w = __builtin_bswap64(w);
    return w;
  };
  size_t at = 0;
  for (; at + 32 <= bytes; at += 32)
    for (size_t l = 0; l < 4; l++) lanes[l] = std::rotl(lanes[l] ^ (word(data + at + 8 * l, 8) * odd2), 31) * odd1;
  for (size_t l = 0; at < bytes; l++) {
    size_t n = std::min<size_t>(8, bytes - at);
    lanes[l] = std::rotl(lanes[l] ^ (word(data + at, n) * odd2), 31) * odd1;
    at += n;
  }
  uint64_t sum = bytes;
  for (uint64_t lane : lanes) sum = mixed(sum ^ lane);
  return sum;
}

}  // namespace

uint64_t checksum(const std::byte* data, size_t bytes, std::byte* copy_to) {
  size_t blocks = (bytes + block_bytes - 1) / block_bytes;
  std::vector<uint64_t> sums(blocks);
#pragma omp parallel for schedule(dynamic) if (blocks > 2)
  for (size_t b = 0; b < blocks; b++) {
    size_t at = b * block_bytes, size = std::min(block_bytes, bytes - at);
    sums[b] = block_sum(data + at, size);
    if (copy_to) memory::copy_bytes(copy_to + at, data + at, size);
  }
  uint64_t sum = bytes;
  for (uint64_t each : sums) sum = mixed(sum * odd1 + each);
  return sum;
}

}  // namespace spdistal
