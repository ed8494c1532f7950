// Random entries and the formats to store them in, for the tests of tensors.
#pragma once
#include <algorithm>
#include <map>
#include <numeric>
#include <random>
#include <vector>

#include "format/registry.hpp"
#include "spdistal/error.hpp"
#include "tensor/coordinates.hpp"

namespace spdistal {

/// Every stack of `order` levels of the registry that makes a format.
inline std::vector<std::vector<LevelFormat>> all_stacks(size_t order) {
  std::vector<std::vector<LevelFormat>> stacks{{}};
  for (size_t k = 0; k < order; k++) {
    std::vector<std::vector<LevelFormat>> longer;
    for (const auto& stack : stacks)
      for (const LevelFormat& level : all_levels()) {
        longer.push_back(stack);
        longer.back().push_back(level);
      }
    stacks = std::move(longer);
  }
  std::erase_if(stacks, [](const auto& stack) {
    try {
      Format valid(stack);
      return false;
    } catch (const UserError&) { return true; }
  });
  return stacks;
}

inline std::vector<std::vector<int>> all_mode_orders(size_t order) {
  std::vector<int> modes(order);
  std::iota(modes.begin(), modes.end(), 0);
  std::vector<std::vector<int>> out;
  do out.push_back(modes);
  while (std::next_permutation(modes.begin(), modes.end()));
  return out;
}

using Random = std::mt19937_64;

inline int64_t below(Random& random, int64_t n) { return int64_t(random() % uint64_t(n)); }

template <class T>
T random_value(Random& random) {
  auto small = [&] { return double(below(random, 17) - 8) / 4; };
  if constexpr (std::is_same_v<T, bool>) return below(random, 2) != 0;
  else if constexpr (is_complex_type<T>) return T(typename T::value_type(small()), typename T::value_type(small()));
  else return T(std::is_integral_v<T> ? double(below(random, 9) - 4) : small());
}

/// The elements of a tensor by their coordinates: what storage is compared with.
template <class T>
using Oracle = std::map<std::vector<int64_t>, T>;

/// Random entries, with duplicates and zeros among them, and what they mean.
template <class T>
std::pair<Coordinates, Oracle<T>> random_entries(Random& random, const std::vector<int64_t>& dims, int64_t count) {
  Coordinates entries(dims, scalar_type_of<T>());
  Oracle<T> oracle;
  if (std::find(dims.begin(), dims.end(), 0) != dims.end()) count = 0;
  for (int64_t e = 0; e < count; e++) {
    std::vector<int64_t> at;
    for (int64_t dim : dims) at.push_back(below(random, dim));
    T value = random_value<T>(random);
    entries.add(std::span<const int64_t>(at), value);
    auto [place, fresh] = oracle.emplace(at, value);
    if constexpr (std::is_same_v<T, bool>) place->second = place->second || value;
    else if (!fresh) place->second = place->second + value;
  }
  return {std::move(entries), std::move(oracle)};
}

}  // namespace spdistal
