#include "base/hash.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

namespace spdistal {
namespace {

constexpr uint64_t prime1 = 0x9E3779B185EBCA87u, prime2 = 0xC2B2AE3D27D4EB4Fu, prime3 = 0x165667B19E3779F9u,
                   prime4 = 0x85EBCA77C2B2AE63u, prime5 = 0x27D4EB2F165667C5u;

// Words are little-endian, whatever the machine is.
template <class T>
uint64_t word_at(const std::byte* at) {
  T out;
  std::copy_n(at, sizeof out, reinterpret_cast<std::byte*>(&out));
  if constexpr (std::endian::native == std::endian::big)
    out = sizeof out == 8 ? T(__builtin_bswap64(out)) : T(__builtin_bswap32(uint32_t(out)));
  return out;
}

uint64_t round(uint64_t lane, uint64_t word) { return std::rotl(lane + word * prime2, 31) * prime1; }

}  // namespace

uint64_t hash_bytes(const void* data, size_t count, uint64_t seed) {
  const auto *at = static_cast<const std::byte*>(data), *end = at + count;
  uint64_t hash = seed + prime5;
  if (count >= 32) {
    // Four lanes, so that multiplications overlap.
    uint64_t lanes[4] = {seed + prime1 + prime2, seed + prime2, seed, seed - prime1};
    for (; end - at >= 32; at += 32)
      for (size_t k = 0; k < 4; k++) lanes[k] = round(lanes[k], word_at<uint64_t>(at + 8 * k));
    hash = std::rotl(lanes[0], 1) + std::rotl(lanes[1], 7) + std::rotl(lanes[2], 12) + std::rotl(lanes[3], 18);
    for (uint64_t lane : lanes) hash = (hash ^ round(0, lane)) * prime1 + prime4;
  }
  hash += count;
  for (; end - at >= 8; at += 8) hash = std::rotl(hash ^ round(0, word_at<uint64_t>(at)), 27) * prime1 + prime4;
  if (end - at >= 4) {
    hash = std::rotl(hash ^ (word_at<uint32_t>(at) * prime1), 23) * prime2 + prime3;
    at += 4;
  }
  for (; at < end; at++) hash = std::rotl(hash ^ (uint64_t(*at) * prime5), 11) * prime1;
  hash = (hash ^ (hash >> 33)) * prime2;
  hash = (hash ^ (hash >> 29)) * prime3;
  return hash ^ (hash >> 32);
}

std::string long_hash(std::string_view bytes) {
  return fmt::format("{:016x}{:016x}", hash_bytes(bytes.data(), bytes.size(), 0),
                     hash_bytes(bytes.data(), bytes.size(), prime3));
}

}  // namespace spdistal
