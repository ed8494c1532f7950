#include "passes/lanes.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "ir/analysis.hpp"
#include "ir/build.hpp"
#include "passes/lanes/ahead.hpp"
#include "passes/lanes/divide.hpp"

namespace spdistal::passes {

using namespace ir;

namespace {

bool has_large_arrays(const Stmt& body) {
  bool found = false;
  each<Allocate>(body, [&](const Allocate& n) { found |= !constant_integer(n.count).has_value(); });
  return found;
}

// Turns of a loop whose length is not known; four for each lane hide what starting and adding up take.
constexpr double turns_of_a_lane = 4;

/// So many loads are in flight that one round does for most rows.
int loads_ahead(const GridMapping& mapping, int width) {
  return int(std::clamp(std::ceil(mapping.average_row / width), 1.0, 2 * turns_of_a_lane));
}

/// The same for all rows of an item: an element is the same lane's in all of them.
int neighbours_of_rows(const std::vector<For>& loops, const Columns& columns) {
  int near = 1;
  for (const For& loop : loops)
    if (lane_loop(loop) == LaneLoop::Row) near = std::max(near, neighbours(loop, columns));
  for (const For& loop : loops) {
    auto trips = trip_count(loop);
    if (!trips || *trips % (int64_t(columns.width) * near) != 0) return 1;
  }
  return near;
}

}  // namespace

int lanes_for(const Stmt& body, const GridMapping& mapping) {
  std::vector<For> loops = divided_loops(body);
  if (loops.empty()) return 1;
  if (mapping.lanes) return *mapping.lanes;
  if (lane_loop(loops[0]) == LaneLoop::Scan) return warp_size;
  double shortest = 1e9;
  for (const For& loop : loops) {
    auto trips = trip_count(loop);
    bool row = lane_loop(loop) == LaneLoop::Row;
    double turns = trips ? double(*trips) : row ? 8 * turns_of_a_lane : mapping.average_row;
    shortest = std::min(shortest, turns / turns_of_a_lane);
  }
  return int(std::bit_floor(uint64_t(std::clamp(shortest, 1.0, 32.0))));
}

std::optional<Stmt> by_lanes(const Stmt& body, const Var& lane, int width, const GridMapping& mapping,
                             LaneTurns turns) {
  std::vector<For> loops = divided_loops(body);
  if (loops.empty() || width == 1 || has_large_arrays(body)) return {};
  Accesses accesses(body, loops);
  if (!accesses.legal()) return {};
  Columns columns{body, accesses, lane, width};
  columns.near = neighbours_of_rows(loops, columns);
  return Divider(loops, columns, {loads_ahead(mapping, width), turns == LaneTurns::Full})(body);
}

Stmt by_one_lane(const Stmt& body, const GridMapping& mapping) {
  return rewrite(body, [&](const For& n) -> Stmt {
    bool sum = lane_loop(n) == LaneLoop::Sum && !trip_count(n);
    return sum ? every_turn(n, {int64(0), 1, loads_ahead(mapping, 1)}) : Stmt(n);
  });
}

}  // namespace spdistal::passes
