// Nodes of a coordinate tree: the positions of one level with the coordinates that lead to them.
#pragma once
#include <vector>

#include "level/level.hpp"
#include "tensor/storage.hpp"

namespace spdistal {

/// The coordinates that lead to a position of a level, in storage order.
std::vector<int64_t> path_to(const Pattern& pattern, size_t level, int64_t position);

namespace detail {

template <class F>
void walk_nodes(const Pattern& pattern, size_t k, size_t to, int64_t parent, std::vector<int64_t>& path, F& f) {
  const LevelArrays& level = pattern.level(k);
  const LevelFunctions& functions = functions_of(pattern.format().levels()[k]);
  Range below = functions.children(level, parent);
  for (int64_t p = below.lo; p < below.hi; p++) {
    if (functions.stored && !functions.stored(level, p)) continue;
    path[k] = functions.coordinate(level, p);
    if (k == to) f(std::span<const int64_t>(path), p);
    else walk_nodes(pattern, k + 1, to, p, path, f);
  }
}

}  // namespace detail

/// f(path, position) for every position of a level; the path is in storage order.
template <class F>
void for_each_node(const Pattern& pattern, size_t level, F&& f) {
  std::vector<int64_t> path(level + 1);
  detail::walk_nodes(pattern, 0, level, 0, path, f);
}

}  // namespace spdistal
