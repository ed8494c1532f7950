#include "level/lists.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/threads.hpp"

namespace spdistal::lists {

IndexArray pack_coordinates(const PackLevel& in, const Groups& groups) {
  return IndexArray::make(groups.count, width_for(std::max<int64_t>(0, in.dim - 1)), [&]<class I>(I* crd) {
    const int64_t* column = in.column.data();
#pragma omp parallel for schedule(static) num_threads(loop_threads()) if (groups.count > 100000)
    for (int64_t g = 0; g < groups.count; g++) crd[g] = I(column[groups.first_of(g)]);
  });
}

LevelArrays pack(const PackLevel& in, Groups& groups, size_t to_level) {
  int64_t parents = groups.positions;
  checked_positions(parents, 1, sizeof(int32_t),
                    fmt::format("listing the coordinates of dimension {} below {} positions", in.dimension, parents));
  Cut cut = cut_groups(groups, in.depth, to_level);
  // Positions without entries have empty ranges: pos stands still from one group's position to the next.
  IndexArray pos = IndexArray::make(parents + 1, width_for(cut.count), [&]<class I>(I* out) {
    int64_t before = groups.count > 0 ? groups.position_of(0) : parents;
    std::fill(out, out + before + 1, I(0));
#pragma omp parallel for schedule(static) num_threads(loop_threads()) if (groups.count > 100000)
    for (int64_t g = 0; g < groups.count; g++) {
      int64_t next = g + 1 < groups.count ? groups.position_of(g + 1) : parents;
      std::fill(out + groups.position_of(g) + 1, out + next + 1, I(cut.begin[g + 1]));
    }
  });
  groups = {cut.count, std::move(cut.first), std::nullopt, cut.count};
  return {in.dim, in.range, groups.positions, {{"pos", std::move(pos)}, {"crd", pack_coordinates(in, groups)}}};
}

Range children(const LevelArrays& level, int64_t parent) { return {level["pos"][parent], level["pos"][parent + 1]}; }

int64_t parent(const LevelArrays& level, int64_t position) {
  return level["pos"].visit(
      [&](auto pos) { return int64_t(std::upper_bound(pos.begin(), pos.end(), position) - pos.begin()) - 1; });
}

int64_t coordinate(const LevelArrays& level, int64_t position) { return level["crd"][position]; }

Range equal_range(const LevelArrays& level, Range positions, int64_t coordinate) {
  return level["crd"].visit([&](auto crd) {
    auto [lo, hi] = std::equal_range(crd.begin() + positions.lo, crd.begin() + positions.hi, coordinate,
                                     [](int64_t a, int64_t b) { return a < b; });
    return Range{lo - crd.begin(), hi - crd.begin()};
  });
}

void locate(const LevelArrays& level, Range parents, int64_t coordinate, const std::function<void(Range)>& found) {
  for (int64_t parent = parents.lo; parent < parents.hi; parent++) {
    Range at = equal_range(level, children(level, parent), coordinate);
    if (at.size() > 0) found(at);
  }
}

void expand(const LevelArrays& level, int64_t parents, Array<int64_t>& coordinate, Array<int64_t>& parent) {
  level["crd"].visit([&](auto crd) {
#pragma omp parallel for schedule(static) num_threads(loop_threads()) if (level.positions > 100000)
    for (int64_t p = 0; p < level.positions; p++) coordinate[p] = crd[size_t(p)];
  });
  level["pos"].visit([&](auto pos) {
#pragma omp parallel for schedule(static) num_threads(loop_threads()) if (level.positions > 100000)
    for (int64_t p = 0; p < parents; p++)
      std::fill(parent.begin() + pos[size_t(p)], parent.begin() + pos[size_t(p) + 1], p);
  });
}

std::optional<std::string> verify(const LevelRun& run, const LevelRun& ordered) {
  const LevelArrays& level = run.levels[0];
  if (auto fault = verify_positions(level, run.parents)) return fault;
  if (auto fault = verify_coordinates(level)) return fault;
  return verify_order(ordered);
}

std::optional<std::string> verify_positions(const LevelArrays& level, int64_t parents) {
  if (level["pos"].size() != parents + 1)
    return fmt::format("has {} elements in pos, not {} (one more than the {} positions above)", level["pos"].size(),
                       parents + 1, parents);
  if (level["pos"][0] != 0) return fmt::format("starts with pos[0] = {}, not 0", level["pos"][0]);
  int64_t fall = level["pos"].visit([&](auto pos) {
    int64_t at = parents;
#pragma omp parallel for schedule(static) num_threads(loop_threads()) if (parents > 100000) reduction(min : at)
    for (int64_t p = 0; p < parents; p++)
      if (pos[size_t(p)] > pos[size_t(p) + 1]) at = std::min(at, p);
    return at;
  });
  if (fall < parents)
    return fmt::format("has pos[{}] = {} above pos[{}] = {}", fall, level["pos"][fall], fall + 1,
                       level["pos"][fall + 1]);
  if (level["pos"][parents] != level.positions)
    return fmt::format("ends with pos[{}] = {}, but has {} positions", parents, level["pos"][parents], level.positions);
  return std::nullopt;
}

std::optional<std::string> verify_coordinates(const LevelArrays& level) {
  if (level["crd"].size() != level.positions)
    return fmt::format("has {} elements in crd for {} positions", level["crd"].size(), level.positions);
  int64_t bad = level["crd"].visit([&](auto crd) {
    int64_t at = level.positions;
#pragma omp parallel for schedule(static) num_threads(loop_threads()) if (level.positions > 100000) reduction(min : at)
    for (int64_t p = 0; p < level.positions; p++)
      if (!level.range.contains(crd[size_t(p)])) at = std::min(at, p);
    return at;
  });
  if (bad < level.positions)
    return fmt::format("has crd[{}] = {}, outside [{}, {})", bad, level["crd"][bad], level.range.lo, level.range.hi);
  return std::nullopt;
}

std::optional<std::string> verify_order(const LevelRun& run) {
  const LevelArrays& level = run.levels[0];
  for (const LevelArrays& inner : run.levels.subspan(1))
    if (inner["crd"].size() != level.positions) return std::nullopt;  // said when that level has its turn
  int64_t bad = level.positions;
  level["pos"].visit([&](auto pos) {
    level["crd"].visit([&](auto crd) {
      // 0: the tuple at p is above the one before it, 1: the same, 2: below
      auto compare_inner = [&](int64_t p) {
        for (const LevelArrays& inner : run.levels.subspan(1))
          if (inner["crd"][p - 1] != inner["crd"][p]) return inner["crd"][p - 1] < inner["crd"][p] ? 0 : 2;
        return 1;
      };
#pragma omp parallel for schedule(static) num_threads(loop_threads()) if (level.positions > 100000) reduction(min : bad)
      for (int64_t parent = 0; parent < run.parents; parent++)
        for (int64_t p = pos[size_t(parent)] + 1; p < pos[size_t(parent) + 1]; p++)
          if (crd[size_t(p) - 1] >= crd[size_t(p)] && (crd[size_t(p) - 1] > crd[size_t(p)] || compare_inner(p) != 0))
            bad = std::min(bad, p);
    });
  });
  if (bad == level.positions) return std::nullopt;
  auto tuple = [&](int64_t p) {
    std::string out;
    for (const LevelArrays& each : run.levels) out += (out.empty() ? "" : ", ") + std::to_string(each["crd"][p]);
    return run.levels.size() == 1 ? out : "(" + out + ")";
  };
  std::string now = tuple(bad), before = tuple(bad - 1);
  return fmt::format("has {} after {} at position {} below the same parent: {}", now, before, bad,
                     now == before ? "each stands once" : "they must rise");
}

// ---- kernels ----

namespace kernel {

using ir::Expr;
using ir::Var;

Expr first(const KernelLevel& level, const Expr& parent) {
  return ir::cast(ScalarType::Int64, ir::load(level.array("pos"), parent));
}
Var weight(const KernelLevel& level) { return level.array("pos"); }
Expr coordinate(const KernelLevel& level, const Expr& position) {
  return ir::cast(ScalarType::Int64, ir::load(level.array("crd"), position));
}

Expr step(const KernelLevel& level, const Expr& position, const Expr& start, const Expr& end) {
  ir::Body& body = level.body();
  Var at = body.variable(level.name + "_end", start), crd = level.array("crd");
  Expr same = ir::equal(ir::load(crd, at), ir::load(crd, position));
  body.loop_while(Expr(at) < end && same, [&] { body.increase(at, 1); });
  return at;
}

Located locate(const KernelLevel& level, const Above& above, const Expr& coordinate) {
  return search(level, children_of(unique, level, above), coordinate);
}

Located search(const KernelLevel& level, const Segment& positions, const Expr& sought) {
  ir::Body& body = level.body();
  Var begin = body.constant(level.name + "_from", positions.begin),
      end = body.constant(level.name + "_to", positions.end), crd = level.array("crd");
  Var position = body.constant("p" + level.name, ir::lower_bound(crd, begin, end, ir::cast(crd.type.scalar, sought)));
  Var found = body.constant("has_" + level.name,
                            Expr(position) < end && ir::equal(kernel::coordinate(level, position), sought));
  return {position, found, end};
}

Expr seek(const KernelLevel& level, const Above&, const Segment& range, const Expr& coordinate) {
  return ir::lower_bound(level.array("crd"), range.begin, range.end, coordinate);
}

void append(const KernelLevel& level, const Expr& position, const Expr& coordinate) {
  Var crd = level.array("crd");
  level.body().store(crd, position, ir::cast(crd.type.scalar, coordinate));
}
std::vector<Var> appended(const KernelLevel& level) { return {level.array("crd")}; }

}  // namespace kernel

}  // namespace spdistal::lists
