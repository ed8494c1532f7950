// A 128-bit hash of bytes, as a key of files and a check of their contents. Not for secrets.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

namespace spdistal::codegen {

struct Hash {
  uint64_t high = 0, low = 0;
  bool operator==(const Hash&) const = default;
  /// 32 hexadecimal digits.
  std::string str() const;
};

Hash hash_of(std::string_view bytes);

}  // namespace spdistal::codegen
