// Compressed: each distinct coordinate below a parent once.
#include "tensor/levels/lists.hpp"

namespace spdistal {
namespace {

LevelArrays pack(const PackLevel& in, Groups& groups) { return lists::pack(in, groups, in.level); }

std::optional<std::string> verify(const LevelRun& run) {
  const LevelArrays& level = run.levels[0];
  if (auto fault = lists::verify_positions(level, run.parents)) return fault;
  if (auto fault = lists::verify_coordinates(level)) return fault;
  return lists::verify_order({run.levels.first(1), run.parents});
}

}  // namespace

template <>
const LevelFunctions& level_functions<levels::Compressed>() {
  static constexpr LevelFunctions table{pack, lists::children, lists::coordinate, lists::locate, lists::expand, verify};
  return table;
}

}  // namespace spdistal
