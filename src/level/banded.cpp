// Banded: consecutive coordinates below each parent. What lies between those that occur has positions without entries.
#include <fmt/format.h>

#include <algorithm>

#include "base/threads.hpp"
#include "level/lists.hpp"

namespace spdistal {
namespace {

// The coordinates below each parent that has any: of the entries of its group, which rise.
std::vector<Range> bands_of(const PackLevel& in, const Groups& groups, const Cut& cut) {
  std::vector<Range> out(static_cast<size_t>(groups.count));
#pragma omp parallel for schedule(static) num_threads(loop_threads()) if (groups.count > 100000)
  for (int64_t g = 0; g < groups.count; g++)
    out[size_t(g)] = {in.column[size_t(cut.first_of(cut.begin[g]))],
                      in.column[size_t(cut.first_of(cut.begin[g + 1] - 1))] + 1};
  return out;
}

LevelArrays pack(const PackLevel& in, Groups& groups) {
  int64_t parents = groups.positions, positions = 0;
  Cut cut = cut_groups(groups, in.depth, in.level);
  std::vector<Range> bands = bands_of(in, groups, cut);
  std::vector<int64_t> begin(bands.size());
  for (size_t g = 0; g < bands.size(); g++) {
    begin[g] = positions;
    positions = checked_positions(positions + bands[g].size(), 1, in.position_bytes,
                                  fmt::format("storing dimension {} (size {}) in bands below {} position{}",
                                              in.dimension, in.dim, parents, parents == 1 ? "" : "s"));
  }
  LevelArrays out{in.dim, in.range, positions};
  out.arrays.push_back({"pos", IndexArray::make(parents + 1, width_for(positions), [&]<class I>(I* pos) {
                          int64_t next = 0;  // the first parent whose pos is not there yet
                          for (size_t g = 0; g < bands.size(); g++)
                            for (; next <= groups.position_of(int64_t(g)); next++) pos[next] = I(begin[g]);
                          for (; next <= parents; next++) pos[next] = I(positions);
                        })});
  out.arrays.push_back({"lo", IndexArray::make(parents, width_for(in.dim), [&]<class I>(I* lo) {
                          std::fill(lo, lo + parents, I(in.range.lo));
                          for (size_t g = 0; g < bands.size(); g++) lo[groups.position_of(int64_t(g))] = I(bands[g].lo);
                        })});
  Array<int64_t> position(cut.count);
  for_each_new_group(cut, [&](int64_t old, Range fresh) {
    int64_t base = begin[size_t(old)] - bands[size_t(old)].lo;
    for (int64_t g = fresh.lo; g < fresh.hi; g++) position[g] = base + in.column[size_t(cut.first_of(g))];
  });
  groups = {cut.count, std::move(cut.first), std::move(position), positions};
  return out;
}

// What is added to a position below a parent to get its coordinate.
int64_t offset_of(const LevelArrays& level, int64_t parent) { return level["lo"][parent] - level["pos"][parent]; }

int64_t coordinate(const LevelArrays& level, int64_t position) {
  return position + offset_of(level, lists::parent(level, position));
}

void locate(const LevelArrays& level, Range parents, int64_t coordinate, const std::function<void(Range)>& found) {
  for (int64_t parent = parents.lo; parent < parents.hi; parent++) {
    int64_t at = coordinate - offset_of(level, parent);
    if (lists::children(level, parent).contains(at)) found({at, at + 1});
  }
}

void expand(const LevelArrays& level, int64_t parents, Array<int64_t>& coordinate, Array<int64_t>& parent) {
#pragma omp parallel for schedule(static) num_threads(loop_threads()) if (level.positions > 100000)
  for (int64_t above = 0; above < parents; above++) {
    Range below = lists::children(level, above);
    int64_t offset = offset_of(level, above);
    for (int64_t p = below.lo; p < below.hi; p++) coordinate[p] = p + offset, parent[p] = above;
  }
}

std::optional<std::string> verify(const LevelRun& run) {
  const LevelArrays& level = run.levels[0];
  if (auto fault = lists::verify_positions(level, run.parents)) return fault;
  if (level["lo"].size() != run.parents)
    return fmt::format("has {} elements in lo for {} positions above", level["lo"].size(), run.parents);
  for (int64_t parent = 0; parent < run.parents; parent++) {
    int64_t lo = level["lo"][parent], size = lists::children(level, parent).size();
    if (size > 0 && (lo < level.range.lo || size > level.range.hi - lo))
      return fmt::format("has {} coordinates from lo[{}] = {} on, outside [{}, {})", size, parent, lo, level.range.lo,
                         level.range.hi);
  }
  return std::nullopt;
}

// ---- kernels ----

using ir::Expr;
using ir::Var;

// Below something that is not stored there is nothing, and its position may be anything.
Expr offset_in_kernel(const KernelLevel& level, const Above& above) {
  Expr lo = ir::cast(ScalarType::Int64, ir::load(level.array("lo"), above.position));
  Expr offset = lo - lists::kernel::first(level, above.position);
  return above.present ? ir::select(*above.present, offset, ir::int64(0)) : offset;
}

Expr coordinate_below(const KernelLevel& level, const Expr& parent, const Expr& position) {
  return position + offset_in_kernel(level, {parent});
}

Located locate_in_kernel(const KernelLevel& level, const Above& above, const Expr& coordinate);

Expr seek(const KernelLevel& level, const Above& above, const Segment& range, const Expr& coordinate) {
  return ir::min(ir::max(coordinate - offset_in_kernel(level, above), range.begin), range.end);
}

constexpr KernelFunctions kernel{.first = lists::kernel::first,
                                 .weight = lists::kernel::weight,
                                 .coordinate_below = coordinate_below,
                                 .locate = locate_in_kernel,
                                 .seek = seek};

Located locate_in_kernel(const KernelLevel& level, const Above& above, const Expr& coordinate) {
  ir::Body& body = level.body();
  Segment below = children_of(kernel, level, above);
  Var end = body.constant(level.name + "_to", below.end);
  Var position = body.constant("p" + level.name, coordinate - offset_in_kernel(level, above));
  Var found = body.constant("has_" + level.name, Expr(position) >= below.begin && Expr(position) < end);
  return {position, found, end};
}

}  // namespace

template <>
const LevelFunctions& level_functions<levels::Banded>() {
  static constexpr LevelFunctions table{
      pack,   lists::children, lists::parent, coordinate,
      locate, expand,          verify,        partition_table<lists::ListPartitions<levels::Banded>>,
      &kernel};
  return table;
}

}  // namespace spdistal
