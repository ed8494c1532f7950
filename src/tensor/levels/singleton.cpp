// Singleton: one coordinate for each position above, at the same position. The order of the tuples is for the level to
// answer that begins the run.
#include <fmt/format.h>

#include "tensor/levels/lists.hpp"

namespace spdistal {
namespace {

LevelArrays pack(const PackLevel& in, Groups& groups) {
  require(!groups.position && groups.positions == groups.count, "a Singleton follows a level without gaps");
  return {in.dim, in.range, groups.positions, {}, lists::pack_coordinates(in, groups)};
}

Range children(const LevelArrays&, int64_t parent) { return {parent, parent + 1}; }

void locate(const LevelArrays& level, Range parents, int64_t coordinate, const std::function<void(Range)>& found) {
  Range at = lists::equal_range(level, parents, coordinate);
  if (at.size() > 0) found(at);
}

void expand(const LevelArrays& level, int64_t, Array<int64_t>& coordinate, Array<int64_t>& parent) {
#pragma omp parallel for schedule(static) if (level.positions > 100000)
  for (int64_t p = 0; p < level.positions; p++) coordinate[p] = level.crd[p], parent[p] = p;
}

std::optional<std::string> verify(const LevelRun& run) {
  const LevelArrays& level = run.levels[0];
  if (level.positions != run.parents) return fmt::format("has {} positions for {} above", level.positions, run.parents);
  if (!level.pos.empty()) return "has a pos array";
  return lists::verify_coordinates(level);
}

// ---- partitions: one position for each parent ----

plan::Fragment init_universe(const plan::Level& l) {
  return plan::init(l, plan::Colouring::Universe, "Singleton.init_universe_partition");
}
plan::Fragment universe_entry(const plan::Level& l) {
  return plan::entry(l, plan::Colouring::Universe, "Singleton.universe_partition_entry");
}
plan::Fragment finalize(const plan::Level& l, plan::Op op, plan::Colouring colouring, std::string_view function) {
  return {{l.positions(), op, {}, colouring, function},
          {l.parents(), plan::Op::Copy, {l.positions()}, colouring, function}};
}
plan::Fragment finalize_universe(const plan::Level& l) {
  return finalize(l, plan::Op::ByValueRanges, plan::Colouring::Universe, "Singleton.finalize_universe_partition");
}
plan::Fragment finalize_universe_set(const plan::Level& l) {
  return finalize(l, plan::Op::ByValueSet, plan::Colouring::Universe, "Singleton.finalize_universe_partition");
}
plan::Fragment init_non_zero(const plan::Level& l) {
  return plan::init(l, plan::Colouring::NonZero, "Singleton.init_non_zero_partition");
}
plan::Fragment non_zero_entry(const plan::Level& l) {
  return plan::entry(l, plan::Colouring::NonZero, "Singleton.non_zero_partition_entry");
}
plan::Fragment finalize_non_zero(const plan::Level& l) {
  return finalize(l, plan::Op::ByBounds, plan::Colouring::NonZero, "Singleton.finalize_non_zero_partition");
}
plan::Fragment from_parent(const plan::Level& l) {
  return {{l.positions(), plan::Op::Copy, {l.above()}, {}, "Singleton.partition_from_parent"}};
}
plan::Fragment from_child(const plan::Level& l) {
  return {{l.positions(), plan::Op::Copy, {l.asked_below()}, {}, "Singleton.partition_from_child"},
          {l.parents(), plan::Op::Copy, {l.positions()}, {}, "Singleton.partition_from_child"}};
}

}  // namespace

template <>
const LevelFunctions& level_functions<levels::Singleton>() {
  static constexpr LevelFunctions table{pack,
                                        children,
                                        lists::coordinate,
                                        locate,
                                        expand,
                                        verify,
                                        {init_universe, universe_entry, finalize_universe, finalize_universe_set,
                                         init_non_zero, non_zero_entry, finalize_non_zero, from_parent, from_child}};
  return table;
}

}  // namespace spdistal
