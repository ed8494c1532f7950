// Compressed, non-unique: a coordinate for every distinct tuple of the run (this level and the Singletons after it).
#include "tensor/levels/lists.hpp"

namespace spdistal {
namespace {

LevelArrays pack(const PackLevel& in, Groups& groups) { return lists::pack(in, groups, in.run_end); }

std::optional<std::string> verify(const LevelRun& run) {
  const LevelArrays& level = run.levels[0];
  if (auto fault = lists::verify_positions(level, run.parents)) return fault;
  if (auto fault = lists::verify_coordinates(level)) return fault;
  return lists::verify_order(run);
}

}  // namespace

template <>
const LevelFunctions& level_functions<levels::CompressedNonUnique>() {
  static constexpr LevelFunctions table{pack, lists::children, lists::coordinate, lists::locate, lists::expand, verify};
  return table;
}

}  // namespace spdistal
