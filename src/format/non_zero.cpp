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

}  // namespace spdistal
