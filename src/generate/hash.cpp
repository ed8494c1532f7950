#include "generate/hash.hpp"

#include <algorithm>
#include <bit>

namespace spdistal {

Permutation::Permutation(uint64_t n, uint64_t seed) : n_(n) {
  half_ = std::max(1, (int(std::bit_width(n > 0 ? n - 1 : 0)) + 1) / 2);
  mask_ = (uint64_t(1) << half_) - 1;
  for (int r = 0; r < rounds; r++) keys_[r] = hash_of(hash_of(seed + 1) + uint64_t(r));
}

uint64_t Permutation::operator()(uint64_t x) const {
  do {
    uint64_t left = x >> half_, right = x & mask_;
    for (int r = 0; r < rounds; r++) {
      uint64_t next = left ^ round(right, r);
      left = right, right = next;
    }
    x = left << half_ | right;
  } while (x >= n_);
  return x;
}

uint64_t Permutation::inverse(uint64_t y) const {
  do {
    uint64_t left = y >> half_, right = y & mask_;
    for (int r = rounds; r-- > 0;) {
      uint64_t before = right ^ round(left, r);
      right = left, left = before;
    }
    y = left << half_ | right;
  } while (y >= n_);
  return y;
}

}  // namespace spdistal
