#include "format/non_zero.hpp"

#include <algorithm>

#include "format/questions.hpp"

namespace spdistal {

size_t levels_split_by(const Format& format, const Distribution& distribution, const DistVar& var) {
  size_t count = 0;
  for (size_t dim : distribution.dims_of(var)) count = std::max(count, format.level_of(dim) + 1);
  while (count > 0 && continues_tuples(format, count)) count++;
  return count;
}

bool has_blocks_of(const Format& format, const Distribution& distribution, const DistVar& var, size_t dim) {
  const DistVar& blocks = distribution.dims()[dim];
  if (blocks == var || format.level_of(dim) >= levels_split_by(format, distribution, var)) return false;
  bool placed = false, dealt = false;
  for (const std::vector<Placement>& level : distribution.levels())
    for (const Placement& placement : level) {
      const DistVar* here = placement.var();
      bool non_zero = std::holds_alternative<NonZero>(placement.what());
      if (here && *here == var && non_zero) dealt = true;
      if (!here || !(*here == blocks)) continue;
      if (non_zero || dealt) return false;
      placed = true;
    }
  return placed;
}

}  // namespace spdistal
