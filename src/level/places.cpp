#include "level/places.hpp"

#include <fmt/format.h>

#include "base/threads.hpp"

namespace spdistal::places {

LevelArrays pack(const PackLevel& in, Groups& groups) {
  int64_t extent = in.range.size();
  int64_t positions =
      checked_positions(groups.positions, extent, in.position_bytes,
                        fmt::format("storing dimension {} (size {}) densely below {} position{}", in.dimension, in.dim,
                                    groups.positions, groups.positions == 1 ? "" : "s"));
  Cut cut = cut_groups(groups, in.depth, in.level);
  Array<int64_t> position(cut.count);
  for_each_new_group(cut, [&](int64_t old, Range fresh) {
    int64_t base = groups.position_of(old) * extent - in.range.lo;
    for (int64_t g = fresh.lo; g < fresh.hi; g++) position[g] = base + in.column[size_t(cut.first_of(g))];
  });
  groups = {cut.count, std::move(cut.first), std::move(position), positions};
  return {in.dim, in.range, positions};
}

Range children(const LevelArrays& level, int64_t parent) {
  int64_t extent = level.range.size();
  return {parent * extent, (parent + 1) * extent};
}

int64_t parent(const LevelArrays& level, int64_t position) { return position / level.range.size(); }

int64_t coordinate(const LevelArrays& level, int64_t position) {
  return level.range.lo + position % level.range.size();
}

void locate(const LevelArrays& level, Range parents, int64_t coordinate, const std::function<void(Range)>& found) {
  if (!level.range.contains(coordinate)) return;
  for (int64_t parent = parents.lo; parent < parents.hi; parent++) {
    int64_t at = parent * level.range.size() + coordinate - level.range.lo;
    found({at, at + 1});
  }
}

void expand(const LevelArrays& level, int64_t parents, Array<int64_t>& coordinate, Array<int64_t>& parent) {
  int64_t extent = level.range.size();
#pragma omp parallel for schedule(static) num_threads(loop_threads()) if (level.positions > 100000)
  for (int64_t p = 0; p < parents; p++)
    for (int64_t c = 0; c < extent; c++) {
      coordinate[p * extent + c] = level.range.lo + c;
      parent[p * extent + c] = p;
    }
}

std::optional<std::string> verify(const LevelRun& run) {
  const LevelArrays& level = run.levels[0];
  int64_t positions = 0;
  if (__builtin_mul_overflow(run.parents, level.range.size(), &positions) || positions != level.positions)
    return fmt::format("has {} positions, not {} for each of {} above", level.positions, level.range.size(),
                       run.parents);
  return std::nullopt;
}

// ---- kernels ----

namespace kernel {

using ir::Expr;

Expr first(const KernelLevel& level, const Expr& parent) { return parent * level.stride(); }
Expr per_parent(const KernelLevel& level) { return level.stride(); }
// There is one parent above the first level, so that nothing is divided there.
Expr coordinate(const KernelLevel& level, const Expr& position) {
  return (level.level == 0 ? position : position % level.stride()) + level.first_coordinate();
}
Expr coordinate_below(const KernelLevel& level, const Expr& parent, const Expr& position) {
  return position - first(level, parent) + level.first_coordinate();
}
Expr place(const KernelLevel& level, const Expr& parent, const Expr& coordinate) {
  Expr inside = coordinate - level.first_coordinate();
  return level.level == 0 ? inside : parent * level.stride() + inside;
}

}  // namespace kernel

}  // namespace spdistal::places
