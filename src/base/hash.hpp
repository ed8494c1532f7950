// Hashes of plain data, the same everywhere and on every rank: keys of files, checks against damage, telling whether all
// ranks were given the same. Not against malice.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace spdistal {

/// XXH64, the 64-bit hash of the xxHash specification: several bytes per cycle.
uint64_t hash_bytes(const void* data, size_t count, uint64_t seed = 0);

/// 32 hexadecimal digits: a name for bytes that others will not have.
std::string long_hash(std::string_view bytes);

/// The hash of several things said one after the other.
class Hasher {
 public:
  void word(uint64_t value) { state_ = hash_bytes(&value, sizeof value, state_); }
  void bytes(const std::byte* data, size_t count) { state_ = hash_bytes(data, count, state_); }
  template <class T>
  void all(std::span<const T> values) {
    bytes(reinterpret_cast<const std::byte*>(values.data()), values.size_bytes());
  }
  uint64_t value() const { return state_; }

 private:
  uint64_t state_ = 0;
};

}  // namespace spdistal
