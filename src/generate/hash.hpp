// Randomness without state: every number is a function of a seed and of global indices, so that any part of a tensor
// can be made anywhere and comes out the same.
#pragma once
#include <cstdint>

namespace spdistal {

/// The finaliser of splitmix64: a bijection of 64-bit numbers.
constexpr uint64_t hash_of(uint64_t x) {
  x += 0x9E3779B97F4A7C15u;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
  return x ^ (x >> 31);
}
/// Another sequence for every seed; seed 0 leaves keys as they are.
constexpr uint64_t seeded(uint64_t seed, uint64_t key) { return seed == 0 ? key : key ^ hash_of(seed); }

/// In [0, 1).
constexpr double unit(uint64_t hash) { return double(hash >> 11) * 0x1.0p-53; }
/// The value of a stored element, in [0.5, 1.5): never zero.
constexpr double element_value(uint64_t key) { return 0.5 + unit(hash_of(key ^ 0x5bd1e995u)); }

/// A bijection of [0, n) that looks random: a Feistel network on the next even number of bits, walked until it comes
/// back into [0, n).
class Permutation {
 public:
  Permutation(uint64_t n, uint64_t seed);
  uint64_t operator()(uint64_t x) const;
  uint64_t inverse(uint64_t y) const;

 private:
  static constexpr int rounds = 4;
  uint64_t round(uint64_t half, int number) const { return hash_of(half ^ keys_[number]) & mask_; }

  uint64_t n_, mask_;
  int half_;
  uint64_t keys_[rounds];
};

}  // namespace spdistal
