#include "tensor/nodes.hpp"

#include <algorithm>

namespace spdistal {

std::vector<int64_t> path_to(const Pattern& pattern, size_t level, int64_t position) {
  std::vector<int64_t> path(level + 1);
  for (size_t k = level + 1; k-- > 0;) {
    const LevelArrays& here = pattern.level(k);
    path[k] = functions_of(pattern.format().levels()[k]).coordinate(here, position);
    const LevelProperties& properties = pattern.format().levels()[k].properties();
    if (properties.full) position /= here.range.size();
    else if (!properties.branchless)
      position = here.pos.visit(
          [&](auto pos) { return int64_t(std::upper_bound(pos.begin(), pos.end(), position) - pos.begin()) - 1; });
  }
  return path;
}

}  // namespace spdistal
