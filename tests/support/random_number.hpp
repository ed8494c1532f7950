// Small choices at random.
#pragma once
#include <cstdint>
#include <random>
#include <vector>

namespace spdistal::test {

/// A whole number from low to high, both included.
inline int64_t number(std::mt19937_64& random, int64_t low, int64_t high) {
  return low + int64_t(random() % uint64_t(high - low + 1));
}
inline bool one_in(std::mt19937_64& random, int64_t n) { return number(random, 1, n) == 1; }
template <class List>
const auto& pick(std::mt19937_64& random, const List& list) {
  return *(std::begin(list) + number(random, 0, int64_t(std::size(list)) - 1));
}
/// The place of one of several weights, drawn in proportion to them.
inline size_t weighted(std::mt19937_64& random, const std::vector<int>& weights) {
  int64_t all = 0;
  for (int weight : weights) all += weight;
  int64_t at = number(random, 0, all - 1);
  size_t k = 0;
  for (; at >= weights[k]; k++) at -= weights[k];
  return k;
}

}  // namespace spdistal::test
