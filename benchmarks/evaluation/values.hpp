// Numbers of the evaluation that look random: each depends on what it is of alone, so that each rank makes its own and all
// systems see the same tensors.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>

namespace evaluation {

inline uint64_t scramble(uint64_t x) {
  x = (x + 0x9E3779B97F4A7C15ull) * 0xBF58476D1CE4E5B9ull;
  x = (x ^ (x >> 29)) * 0x94D049BB133111EBull;
  return x ^ (x >> 32);
}
/// In [0, 1), a different one for every stream and number.
inline double chance(uint64_t stream, uint64_t number) {
  return double(scramble(scramble(stream) ^ scramble(number)) >> 11) * 0x1.0p-53;
}
/// The same for two numbers, for a tenth of the time: whoever waits for what is not timed waits for this.
inline double cheap_chance(uint64_t a, uint64_t b) {
  uint64_t x = a * 0x9E3779B97F4A7C15ull + b * 0xC2B2AE3D27D4EB4Full;
  x = (x ^ (x >> 29)) * 0xBF58476D1CE4E5B9ull;
  return double((x ^ (x >> 32)) >> 11) * 0x1.0p-53;
}
/// What the result of a kernel is weighed with to be compared.
inline double weight(int64_t row, int64_t column) { return cheap_chance(uint64_t(row) + 1, uint64_t(column)) - 0.5; }

/// Dense operands have other values in each round, and the first of a kernel twice as large ones in odd rounds: so is the result.
inline double growth(int round) { return round % 2 == 0 ? 1 : 2; }
/// An element of the dense operand of that number: 4 and 7 are second ones.
inline double dense_value(int operand, int64_t row, int64_t column, int round = 0) {
  double grown = operand == 4 || operand == 7 ? 1 : growth(round);
  return grown * (0.5 + cheap_chance(uint64_t(operand) << 40 | uint64_t(row), uint64_t(column)));
}

/// Of n, k about 1 / (k + 1) as often as 0.
inline int64_t zipf(double chance, int64_t n) {
  return std::min(n - 1, int64_t(std::exp(chance * std::log(double(n) + 1))) - 1);
}
/// A bijection of [0, n), for n below 2^31: neighbours lie far apart.
inline int64_t scattered(int64_t x, int64_t n) { return int64_t(uint64_t(x) * 2654435761 % uint64_t(n)); }

constexpr int columns = 32;  // of dense factors

struct Block {
  int64_t lo, hi;
  int64_t size() const { return hi - lo; }
  bool contains(int64_t x) const { return lo <= x && x < hi; }
};
/// Blocks of equal size but the last: the distribution that all systems start from.
inline Block block_of(int64_t n, int64_t parts, int64_t part) {
  int64_t each = (n + parts - 1) / parts;
  return {std::min(n, part * each), std::min(n, (part + 1) * each)};
}

}  // namespace evaluation
