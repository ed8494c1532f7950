#include "tensor/iterate.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace spdistal {
namespace {

void locate_below(const Pattern& pattern, size_t k, Range parents, std::span<const int64_t> at,
                  const std::function<void(Range)>& found) {
  if (k == pattern.order()) return found(parents);
  functions_of(pattern.format().levels()[k])
      .locate(pattern.level(k), parents, at[size_t(pattern.format().mode_order()[k])],
              [&](Range positions) { locate_below(pattern, k + 1, positions, at, found); });
}

}  // namespace

std::vector<Range> stored_runs(const Pattern& pattern) {
  const std::vector<LevelFormat>& levels = pattern.format().levels();
  bool gaps = std::any_of(levels.begin(), levels.end(),
                          [](const LevelFormat& level) { return functions_of(level).stored != nullptr; });
  if (!gaps) return pattern.nnz() > 0 ? std::vector<Range>{{0, pattern.nnz()}} : std::vector<Range>{};
  std::vector<Range> runs;
  for_each_position(pattern, [&](std::span<const int64_t>, int64_t position) {
    if (!runs.empty() && runs.back().hi == position) runs.back().hi++;
    else runs.push_back({position, position + 1});
  });
  return runs;
}

void locate(const Pattern& pattern, std::span<const int64_t> at, const std::function<void(Range)>& found) {
  if (at.size() != pattern.order())
    throw UserError(fmt::format("an element of a tensor of order {} has {} coordinates, not {}", pattern.order(),
                                pattern.order(), at.size()));
  for (size_t d = 0; d < at.size(); d++)
    if (at[d] < 0 || at[d] >= pattern.dims()[d])
      throw UserError(
          fmt::format("coordinate {} lies outside dimension {}, whose size is {}", at[d], d, pattern.dims()[d]));
  locate_below(pattern, 0, {0, 1}, at, found);
}

}  // namespace spdistal
