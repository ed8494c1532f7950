#include "io/checksum.hpp"

#include <algorithm>
#include <vector>

#include "base/hash.hpp"
#include "base/threads.hpp"
#include "memory/copy.hpp"

namespace spdistal {
namespace {

constexpr size_t block_bytes = size_t(1) << 20;

}  // namespace

uint64_t checksum(const std::byte* data, size_t bytes, std::byte* copy_to) {
  size_t blocks = (bytes + block_bytes - 1) / block_bytes;
  std::vector<uint64_t> sums(blocks);
#pragma omp parallel for schedule(dynamic) num_threads(loop_threads()) if (blocks > 2)
  for (size_t b = 0; b < blocks; b++) {
    size_t at = b * block_bytes, size = std::min(block_bytes, bytes - at);
    sums[b] = hash_bytes(data + at, size);
    if (copy_to) memory::copy_bytes(copy_to + at, data + at, size);
  }
  Hasher all;
  for (uint64_t each : sums) all.word(each);
  return all.value();
}

}  // namespace spdistal
