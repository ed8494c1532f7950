#include "level/kernel.hpp"

#include <algorithm>

#include "format/questions.hpp"

#include "level/level.hpp"

namespace spdistal {

const KernelFunctions& kernel_functions(const LevelFormat& level) { return *functions_of(level).kernel; }

bool begins_tuples(const Format& format, size_t k) {
  return k + 1 < format.order() && !kernel_functions(format.levels()[k + 1]).first;
}

bool ends_with_what_occurs(const Format& format, size_t k) {
  return std::any_of(format.levels().begin(), format.levels().begin() + std::ptrdiff_t(k) + 1, fills_between);
}

bool leaves_places_empty(const Format& format) {
  return std::any_of(format.levels().begin(), format.levels().end(),
                     [](const LevelFormat& level) { return kernel_functions(level).stored != nullptr; });
}

bool has_places(const LevelFormat& level) { return kernel_functions(level).place != nullptr; }

bool keeps_order(const LevelFormat& level) { return has_places(level) || kernel_functions(level).seek != nullptr; }

size_t leading_dense_levels(const Format& format) {
  size_t count = 0;
  while (count < format.order() && stores_all(kernel_functions(format.levels()[count]))) count++;
  return count;
}

Segment children_of(const KernelFunctions& functions, const KernelLevel& level, const Segment& parents) {
  if (!functions.first) return parents;
  return {functions.first(level, parents.begin), functions.first(level, parents.end)};
}

Segment children_of(const KernelFunctions& functions, const KernelLevel& level, const Above& above) {
  Segment parents{above.position, above.end ? *above.end : above.position + 1};
  Segment out = children_of(functions, level, parents);
  if (!above.present) return out;
  return {ir::select(*above.present, out.begin, ir::int64(0)), ir::select(*above.present, out.end, ir::int64(0))};
}

}  // namespace spdistal
