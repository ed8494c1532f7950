#include "tensor/buffer.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <span>
#include <vector>

namespace spdistal {
namespace {

std::span<uint64_t> words(Buffer& buffer) {
  return {reinterpret_cast<uint64_t*>(buffer.data()), buffer.size() / sizeof(uint64_t)};
}

TEST(Buffer, KeepsWhatComesFirstWhenItShrinks) {
  for (size_t bytes : {size_t(4096), size_t(16) << 20})
    for (size_t kept : {bytes, bytes / 2, bytes / 3 / 8 * 8, size_t(8), size_t(0)}) {
      Buffer buffer = Buffer::uninitialized(bytes);
      std::iota(words(buffer).begin(), words(buffer).end(), uint64_t(7));
      buffer.shrink(kept);
      ASSERT_EQ(buffer.size(), kept);
      for (size_t k = 0; k < words(buffer).size(); k++) ASSERT_EQ(words(buffer)[k], k + 7);
    }
}

TEST(Buffer, IsZeroedWhenThatIsAskedForWhateverItsMemoryHeldBefore) {
  constexpr size_t bytes = size_t(3) << 20;
  for (int round = 0; round < 3; round++) {
    // More than are kept as they are for whoever wants memory next.
    std::vector<Buffer> used;
    for (int k = 0; k < 12; k++)
      std::ranges::fill(words(used.emplace_back(Buffer::uninitialized(bytes))), ~uint64_t(0));
    used[0].shrink(8);
    used.clear();
    for (int k = 0; k < 12; k++) {
      used.push_back(Buffer::zeroed(bytes));
      for (uint64_t word : words(used.back())) ASSERT_EQ(word, 0u);
    }
  }
}

}  // namespace
}  // namespace spdistal
