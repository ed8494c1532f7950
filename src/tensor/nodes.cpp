#include "tensor/nodes.hpp"

namespace spdistal {

std::vector<int64_t> path_to(const Pattern& pattern, size_t level, int64_t position) {
  std::vector<int64_t> path(level + 1);
  for (size_t k = level + 1; k-- > 0;) {
    const LevelFunctions& functions = functions_of(pattern.format().levels()[k]);
    path[k] = functions.coordinate(pattern.level(k), position);
    position = functions.parent(pattern.level(k), position);
  }
  return path;
}

}  // namespace spdistal
