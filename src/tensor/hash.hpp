// Hashes of plain data, the same on every rank: for telling whether all ranks were given the same. Not against malice.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>

#include "memory/copy.hpp"

namespace spdistal {

class Hasher {
 public:
  void word(uint64_t value) {
    state_ = (state_ ^ value) * 0x9e3779b97f4a7c15u;
    state_ ^= state_ >> 29;
  }
  void bytes(const std::byte* data, size_t count) {
    word(count);
    for (; count >= sizeof(uint64_t); data += sizeof(uint64_t), count -= sizeof(uint64_t)) {
      uint64_t value;
      memory::copy_bytes(&value, data, sizeof value);
      word(value);
    }
    uint64_t rest = 0;
    memory::copy_bytes(&rest, data, count);
    word(rest);
  }
  template <class T>
  void all(std::span<const T> values) {
    bytes(reinterpret_cast<const std::byte*>(values.data()), values.size_bytes());
  }
  uint64_t value() const { return state_; }

 private:
  uint64_t state_ = 0x2545f4914f6cdd1du;
};

}  // namespace spdistal
