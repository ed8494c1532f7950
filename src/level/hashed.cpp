// Hashed: each distinct coordinate below a parent once, in any order, found through a table.
#include <fmt/format.h>

#include <algorithm>

#include "base/threads.hpp"
#include "level/lists.hpp"

namespace spdistal {
namespace {

constexpr int64_t free_place = -1;

// The place after one of a table, around its end.
int64_t next_place(int64_t place, int64_t places) { return place + 1 == places ? 0 : place + 1; }
int64_t first_place(int64_t coordinate, int64_t places) { return coordinate % (places - 1); }

IndexArray make_table(const LevelArrays& level) {
  return IndexArray::make(2 * level.positions, level["pos"].width(), [&]<class I>(I* table) {
    std::fill(table, table + 2 * level.positions, I(free_place));
    level["crd"].visit([&](auto crd) {
#pragma omp parallel for schedule(static) num_threads(loop_threads()) if (level.positions > 100000)
      for (int64_t parent = 0; parent < level["pos"].size() - 1; parent++) {
        Range below = lists::children(level, parent);
        int64_t places = 2 * below.size();
        for (int64_t p = below.lo; p < below.hi; p++) {
          int64_t at = first_place(crd[size_t(p)], places);
          while (table[2 * below.lo + at] != free_place) at = next_place(at, places);
          table[2 * below.lo + at] = I(p);
        }
      }
    });
  });
}

LevelArrays pack(const PackLevel& in, Groups& groups) {
  LevelArrays out = lists::pack(in, groups, in.level);
  out.arrays.push_back({"table", make_table(out)});
  return out;
}

// The position of a coordinate among some children; negative: it is not stored.
int64_t find(const LevelArrays& level, Range below, int64_t coordinate) {
  int64_t places = 2 * below.size();
  if (places == 0) return free_place;
  for (int64_t at = first_place(coordinate, places);; at = next_place(at, places)) {
    int64_t position = level["table"][2 * below.lo + at];
    if (position < 0 || level["crd"][position] == coordinate) return position;
  }
}

void locate(const LevelArrays& level, Range parents, int64_t coordinate, const std::function<void(Range)>& found) {
  for (int64_t parent = parents.lo; parent < parents.hi; parent++)
    if (int64_t at = find(level, lists::children(level, parent), coordinate); at >= 0) found({at, at + 1});
}

// A table whose places are free, or name a child each, half and half, ends every search.
std::optional<std::string> verify_table(const LevelArrays& level, int64_t parents) {
  if (level["table"].size() != 2 * level.positions)
    return fmt::format("has {} elements in table, not two for each of {} positions", level["table"].size(),
                       level.positions);
  for (int64_t parent = 0; parent < parents; parent++) {
    Range below = lists::children(level, parent);
    int64_t free = 0;
    for (int64_t place = 2 * below.lo; place < 2 * below.hi; place++) {
      int64_t position = level["table"][place];
      if (position != free_place && !below.contains(position))
        return fmt::format("has table[{}] = {}, outside [{}, {})", place, position, below.lo, below.hi);
      free += position == free_place;
    }
    if (free != below.size())
      return fmt::format("has {} free places for {} positions in the table of parent {}", free, below.size(), parent);
    for (int64_t p = below.lo; p < below.hi; p++)
      if (int64_t at = find(level, below, level["crd"][p]); at != p)
        return fmt::format("has coordinate {} at position {}, where its table does not lead to", level["crd"][p], p);
  }
  return std::nullopt;
}

std::optional<std::string> verify(const LevelRun& run) {
  const LevelArrays& level = run.levels[0];
  if (auto fault = lists::verify_positions(level, run.parents)) return fault;
  if (auto fault = lists::verify_coordinates(level)) return fault;
  return verify_table(level, run.parents);
}

// ---- kernels ----

using ir::Expr;
using ir::Var;

Located locate_in_kernel(const KernelLevel& level, const Above& above, const Expr& coordinate);
void finish(const KernelLevel& level, const Expr& parents, const Expr& positions);

constexpr KernelFunctions kernel{.first = lists::kernel::first,
                                 .weight = lists::kernel::weight,
                                 .coordinate = lists::kernel::coordinate,
                                 .locate = locate_in_kernel,
                                 .append = lists::kernel::append,
                                 .appended = lists::kernel::appended,
                                 .finish = finish};

// Goes on to the next place of a table, around its end.
void step(ir::Body& body, const Var& at, const Var& places) {
  body.assign(at, ir::select(ir::equal(Expr(at) + 1, places), ir::int64(0), Expr(at) + 1));
}

void finish(const KernelLevel& level, const Expr& parents, const Expr& positions) {
  ir::Body& body = level.body();
  Var table = level.array("table");
  body.resize(table, positions * 2);
  body.loop("place", ir::int64(0), positions * 2, [&](const Var& place) { body.store(table, place, free_place); });
  body.loop("parent", ir::int64(0), parents, [&](const Var& parent) {
    Var begin = body.constant("begin", lists::kernel::first(level, parent)),
        end = body.constant("end", lists::kernel::first(level, Expr(parent) + 1)),
        places = body.constant("places", (Expr(end) - begin) * 2);
    body.loop("p", begin, end, [&](const Var& p) {
      Var at = body.variable("at", lists::kernel::coordinate(level, p) % (Expr(places) - 1));
      auto here = [&] { return Expr(begin) * 2 + at; };
      body.loop_while(ir::load(table, here()) >= 0, [&] { step(body, at, places); });
      body.store(table, here(), ir::cast(table.type.scalar, p));
    });
  });
}

Located locate_in_kernel(const KernelLevel& level, const Above& above, const Expr& coordinate) {
  ir::Body& body = level.body();
  Segment below = children_of(kernel, level, above);
  Var begin = body.constant(level.name + "_from", below.begin), end = body.constant(level.name + "_to", below.end);
  Var position = body.variable("p" + level.name, begin);
  Var found = body.variable("has_" + level.name, ir::literal(ir::Scalar::of(false)));
  body.when(Expr(begin) < end, [&] {
    Var places = body.constant(level.name + "_places", (Expr(end) - begin) * 2);
    Var at = body.variable(level.name + "_at", coordinate % (Expr(places) - 1));
    auto look = [&] {
      body.assign(position, ir::cast(ScalarType::Int64, ir::load(level.array("table"), Expr(begin) * 2 + at)));
    };
    look();
    body.loop_while(Expr(position) >= 0 && ir::differ(lists::kernel::coordinate(level, position), coordinate), [&] {
      step(body, at, places);
      look();
    });
    body.assign(found, Expr(position) >= 0);
    body.assign(position, ir::max(position, 0));  // a position in any case
  });
  return {position, found, end};
}

}  // namespace

template <>
const LevelFunctions& level_functions<levels::Hashed>() {
  static constexpr LevelFunctions table{
      pack,   lists::children, lists::parent, lists::coordinate,
      locate, lists::expand,   verify,        partition_table<lists::ListPartitions<levels::Hashed>>,
      &kernel};
  return table;
}

}  // namespace spdistal
