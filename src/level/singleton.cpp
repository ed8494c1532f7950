// Singleton: one coordinate for each position above, at the same position. The order of the tuples is for the level to
// answer that begins the run.
#include <fmt/format.h>

#include "base/threads.hpp"
#include "level/lists.hpp"

namespace spdistal {
namespace {

LevelArrays pack(const PackLevel& in, Groups& groups) {
  require(!groups.position && groups.positions == groups.count, "a Singleton follows a level without gaps");
  return {in.dim, in.range, groups.positions, {{"crd", lists::pack_coordinates(in, groups)}}};
}

Range children(const LevelArrays&, int64_t parent) { return {parent, parent + 1}; }
int64_t parent(const LevelArrays&, int64_t position) { return position; }

void locate(const LevelArrays& level, Range parents, int64_t coordinate, const std::function<void(Range)>& found) {
  Range at = lists::equal_range(level, parents, coordinate);
  if (at.size() > 0) found(at);
}

void expand(const LevelArrays& level, int64_t, Array<int64_t>& coordinate, Array<int64_t>& parent) {
#pragma omp parallel for schedule(static) num_threads(loop_threads()) if (level.positions > 100000)
  for (int64_t p = 0; p < level.positions; p++) coordinate[p] = level["crd"][p], parent[p] = p;
}

std::optional<std::string> verify(const LevelRun& run) {
  const LevelArrays& level = run.levels[0];
  if (level.positions != run.parents) return fmt::format("has {} positions for {} above", level.positions, run.parents);
  return lists::verify_coordinates(level);
}

// ---- partitions: one position for each parent ----

using ColoursAbove = Colourings<levels::Singleton>;
constexpr std::string_view name = levels::Singleton::name;

plan::Fragment finalize(const plan::Level& l, plan::Op op, plan::Colouring colouring, std::string_view function) {
  return {{l.positions(), op, {}, colouring, {name, function}},
          {l.parents(), plan::Op::Copy, {l.positions()}, colouring, {name, function}}};
}
plan::Fragment finalize_universe(const plan::Level& l) {
  return finalize(l, plan::Op::ByValueRanges, plan::Colouring::Universe, "finalize_universe_partition");
}
plan::Fragment finalize_universe_set(const plan::Level& l) {
  return finalize(l, plan::Op::ByValueSet, plan::Colouring::Universe, "finalize_universe_partition");
}
plan::Fragment finalize_non_zero(const plan::Level& l) {
  return finalize(l, plan::Op::ByBounds, plan::Colouring::NonZero, "finalize_non_zero_partition");
}
plan::Fragment from_parent(const plan::Level& l) {
  return {{l.positions(), plan::Op::Copy, {l.above()}, {}, {name, "partition_from_parent"}}};
}
plan::Fragment from_child(const plan::Level& l) {
  return {{l.positions(), plan::Op::Copy, {l.asked_below()}, {}, {name, "partition_from_child"}},
          {l.parents(), plan::Op::Copy, {l.positions()}, {}, {name, "partition_from_child"}}};
}

// ---- kernels: positions are those of the level above ----

Located locate_in_kernel(const KernelLevel& level, const Above& above, const ir::Expr& coordinate);

constexpr KernelFunctions kernel{.coordinate = lists::kernel::coordinate,
                                 .step = lists::kernel::step,
                                 .locate = locate_in_kernel,
                                 .seek = lists::kernel::seek};

Located locate_in_kernel(const KernelLevel& level, const Above& above, const ir::Expr& coordinate) {
  return lists::kernel::search(level, children_of(kernel, level, above), coordinate);
}

}  // namespace

template <>
const LevelFunctions& level_functions<levels::Singleton>() {
  static constexpr LevelFunctions table{
      pack,
      children,
      parent,
      lists::coordinate,
      locate,
      expand,
      verify,
      {ColoursAbove::init_universe, ColoursAbove::universe_entry, finalize_universe, finalize_universe_set,
       ColoursAbove::init_non_zero, ColoursAbove::non_zero_entry, finalize_non_zero, from_parent, from_child},
      &kernel};
  return table;
}

}  // namespace spdistal
