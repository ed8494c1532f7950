#include "tensor/iterate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

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

PositionCursor::PositionCursor(const Pattern& pattern)
    : pattern_(&pattern), left_(pattern.order()), at_(pattern.order()) {
  for (const LevelFormat& level : pattern.format().levels()) functions_.push_back(&functions_of(level));
}

bool PositionCursor::next() {
  bool first = !std::exchange(begun_, true);
  if (left_.empty()) return first;
  size_t k = first ? 0 : left_.size() - 1;
  if (first) left_[0] = functions_[0]->children(pattern_->level(0), 0);
  else left_[k].lo++;
  while (true) {
    const LevelArrays& level = pattern_->level(k);
    if (left_[k].lo >= left_[k].hi) {
      if (k == 0) return false;
      left_[--k].lo++;
    } else if (functions_[k]->stored && !functions_[k]->stored(level, left_[k].lo)) {
      left_[k].lo++;
    } else {
      at_[size_t(pattern_->format().mode_order()[k])] = functions_[k]->coordinate(level, left_[k].lo);
      if (k + 1 == left_.size()) return true;
      left_[k + 1] = functions_[k + 1]->children(pattern_->level(k + 1), left_[k].lo);
      k++;
    }
  }
}

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
