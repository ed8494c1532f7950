// Bitmap: a place for every coordinate, and a mask that tells which of them are stored.
#include <fmt/format.h>

#include <algorithm>

#include "level/places.hpp"

namespace spdistal {
namespace {

bool stored(const LevelArrays& level, int64_t position) { return level["mask"][position] != 0; }

LevelArrays pack(const PackLevel& in, Groups& groups) {
  LevelArrays out = places::pack(in, groups);
  out.arrays = {{"mask", IndexArray::flags(out.positions, [&](uint8_t* mask) {
                   std::fill(mask, mask + out.positions, uint8_t(0));
                   for (int64_t g = 0; g < groups.count; g++) mask[groups.position_of(g)] = 1;
                 })}};
  return out;
}

void locate(const LevelArrays& level, Range parents, int64_t coordinate, const std::function<void(Range)>& found) {
  places::locate(level, parents, coordinate, [&](Range at) {
    if (stored(level, at.lo)) found(at);
  });
}

std::optional<std::string> verify(const LevelRun& run) {
  const LevelArrays& level = run.levels[0];
  if (auto fault = places::verify(run)) return fault;
  if (level["mask"].size() != level.positions)
    return fmt::format("has {} elements in mask for {} positions", level["mask"].size(), level.positions);
  for (int64_t p = 0; p < level.positions; p++)
    if (level["mask"][p] > 1) return fmt::format("has mask[{}] = {}, which is neither 0 nor 1", p, level["mask"][p]);
  return std::nullopt;
}

// ---- kernels ----

using ir::Expr;
using ir::Var;

Expr stored_in_kernel(const KernelLevel& level, const Expr& position) {
  return ir::load(level.array("mask"), position);
}

// Of a piece the level covers some coordinates: no other is stored.
Located locate_in_kernel(const KernelLevel& level, const Above& above, const Expr& coordinate) {
  ir::Body& body = level.body();
  Expr inside = coordinate - level.first_coordinate();
  Expr covered = inside >= 0 && inside < level.stride();
  if (above.present) covered = *above.present && covered;
  Var place = body.constant("p" + level.name, places::kernel::place(level, above.position, coordinate));
  Var found = body.constant("has_" + level.name, covered && stored_in_kernel(level, place));
  return {place, found, Expr(place) + 1};
}

Expr seek(const KernelLevel& level, const Above& above, const Segment& range, const Expr& coordinate) {
  Expr place = places::kernel::place(level, above.position, coordinate);
  return ir::min(ir::max(place, range.begin), range.end);
}

constexpr KernelFunctions kernel{.first = places::kernel::first,
                                 .per_parent = places::kernel::per_parent,
                                 .coordinate = places::kernel::coordinate,
                                 .coordinate_below = places::kernel::coordinate_below,
                                 .place = places::kernel::place,
                                 .locate = locate_in_kernel,
                                 .seek = seek,
                                 .stored = stored_in_kernel};

}  // namespace

template <>
const LevelFunctions& level_functions<levels::Bitmap>() {
  static constexpr LevelFunctions table{pack,           places::children,
                                        places::parent, places::coordinate,
                                        locate,         places::expand,
                                        verify,         partition_table<places::PlacePartitions<levels::Bitmap>>,
                                        &kernel,        stored};
  return table;
}

}  // namespace spdistal
