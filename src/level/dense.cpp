// Dense: position = parent * extent + (coordinate - lo). No arrays.
#include <fmt/format.h>

#include "level/kernel.hpp"
#include "level/level.hpp"

namespace spdistal {
namespace {

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
  return {in.dim, in.range, positions, {}, {}};
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
#pragma omp parallel for schedule(static) if (level.positions > 100000)
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
  if (!level.pos.empty() || !level.crd.empty()) return "has index arrays";
  return std::nullopt;
}

// ---- partitions ----

using Colours = Colourings<levels::Dense>;
constexpr std::string_view name = levels::Dense::name;

plan::Fragment finalize(const plan::Level& l, plan::Colouring colouring, std::string_view function) {
  return {{l.positions(), plan::Op::ByBounds, {}, colouring, {name, function}},
          {l.parents(), plan::Op::Contract, {l.positions()}, colouring, {name, function}}};
}
plan::Fragment finalize_universe(const plan::Level& l) {
  return finalize(l, plan::Colouring::Universe, "finalize_universe_partition");
}
plan::Fragment finalize_non_zero(const plan::Level& l) {
  return finalize(l, plan::Colouring::NonZero, "finalize_non_zero_partition");
}
plan::Fragment from_parent(const plan::Level& l) {
  return {{l.positions(), plan::Op::Expand, {l.above()}, {}, {name, "partition_from_parent"}}};
}
plan::Fragment from_child(const plan::Level& l) {
  return {{l.positions(), plan::Op::Copy, {l.asked_below()}, {}, {name, "partition_from_child"}},
          {l.parents(), plan::Op::Contract, {l.positions()}, {}, {name, "partition_from_child"}}};
}

// ---- kernels ----

ir::Expr first(const KernelLevel& level, const ir::Expr& parent) { return parent * level.stride(); }
ir::Expr per_parent(const KernelLevel& level) { return level.stride(); }
// There is one parent above the first level, so that nothing is divided there.
ir::Expr coordinate_in_kernel(const KernelLevel& level, const ir::Expr& position) {
  return (level.level == 0 ? position : position % level.stride()) + level.first_coordinate();
}
ir::Expr coordinate_below(const KernelLevel& level, const ir::Expr& parent, const ir::Expr& position) {
  return position - first(level, parent) + level.first_coordinate();
}
ir::Expr place(const KernelLevel& level, const ir::Expr& parent, const ir::Expr& coordinate) {
  ir::Expr inside = coordinate - level.first_coordinate();
  return level.level == 0 ? inside : parent * level.stride() + inside;
}

constexpr KernelFunctions kernel{.first = first,
                                 .per_parent = per_parent,
                                 .coordinate = coordinate_in_kernel,
                                 .coordinate_below = coordinate_below,
                                 .place = place};

}  // namespace

template <>
const LevelFunctions& level_functions<levels::Dense>() {
  static constexpr LevelFunctions table{
      pack,
      children,
      parent,
      coordinate,
      locate,
      expand,
      verify,
      {Colours::init_universe, Colours::universe_entry, finalize_universe, finalize_universe, Colours::init_non_zero,
       Colours::non_zero_entry, finalize_non_zero, from_parent, from_child},
      &kernel};
  return table;
}

}  // namespace spdistal
