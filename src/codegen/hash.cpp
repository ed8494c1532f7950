#include "codegen/hash.hpp"

#include <fmt/format.h>

#include <algorithm>

#if __has_include(<xxhash.h>)
#define XXH_INLINE_ALL
#include <xxhash.h>
#define SPDISTAL_XXHASH 1
#endif

namespace spdistal::codegen {

std::string Hash::str() const { return fmt::format("{:016x}{:016x}", high, low); }

#ifdef SPDISTAL_XXHASH

Hash hash_of(std::string_view bytes) {
  XXH128_hash_t h = XXH3_128bits(bytes.data(), bytes.size());
  return {h.high64, h.low64};
}

#else

// Two multiply-and-rotate lanes over words of eight bytes, finished by the mixer of MurmurHash3.
Hash hash_of(std::string_view bytes) {
  uint64_t a = 0x9e3779b97f4a7c15ull ^ bytes.size(), b = 0xc2b2ae3d27d4eb4full;
  auto mix = [](uint64_t x) {
    x = (x ^ (x >> 33)) * 0xff51afd7ed558ccdull;
    x = (x ^ (x >> 33)) * 0xc4ceb9fe1a85ec53ull;
    return x ^ (x >> 33);
  };
  for (size_t at = 0; at < bytes.size(); at += 8) {
    uint64_t word = 0;
    std::copy_n(bytes.data() + at, std::min<size_t>(8, bytes.size() - at), reinterpret_cast<char*>(&word));
    a = mix(a ^ word) + b;
    b = (b << 29 | b >> 35) * 0x165667b19e3779f9ull ^ mix(word + at);
  }
  return {mix(a + b), mix(b ^ (a << 1))};
}

#endif

}  // namespace spdistal::codegen
