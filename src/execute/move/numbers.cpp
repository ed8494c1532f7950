#include "execute/move/numbers.hpp"

#include <algorithm>

#include "format/questions.hpp"
#include "level/kernel.hpp"
#include "tensor/iterate.hpp"
#include "tensor/nodes.hpp"

namespace spdistal {

bool can_number(const Format& format, const std::vector<int64_t>& dims) {
  bool below = false;  // levels that do not store everything
  for (const LevelFormat& level : format.levels()) {
    bool more = fills_between(level) || (has_places(level) && (below || !stores_all(level)));  // than elements
    if (!keeps_order(level) || more) return false;
    below |= !stores_all(level);
  }
  int64_t product = 1;
  return std::none_of(dims.begin(), dims.end(),
                      [&](int64_t n) { return __builtin_mul_overflow(product, std::max<int64_t>(n, 1), &product); });
}

runtime::Space all_numbers(const std::vector<int64_t>& dims) {
  int64_t product = 1;
  for (int64_t n : dims) product *= n;
  return runtime::Space::interval(0, product);
}

int64_t number_at(const Pattern& pattern, int64_t position) {
  int64_t number = 0;
  std::vector<int64_t> path = path_to(pattern, pattern.order() - 1, position);
  for (size_t k = 0; k < path.size(); k++) number = number * pattern.level(k).dim + path[k];
  return number;
}

runtime::Space numbers_of(const Pattern& pattern) {
  std::vector<int64_t> out;
  out.reserve(size_t(pattern.nnz()));
  for_each_node(pattern, pattern.order() - 1, [&](std::span<const int64_t> path, int64_t) {
    int64_t number = 0;
    for (size_t k = 0; k < path.size(); k++) number = number * pattern.level(k).dim + path[k];
    out.push_back(number);
  });
  return runtime::Space::from_sorted(std::span<const int64_t>(out));
}

}  // namespace spdistal
