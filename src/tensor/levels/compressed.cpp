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

struct FunctionNames {
  static constexpr std::string_view init_universe = "Compressed.init_universe_partition";
  static constexpr std::string_view universe_entry = "Compressed.universe_partition_entry";
  static constexpr std::string_view finalize_universe = "Compressed.finalize_universe_partition";
  static constexpr std::string_view init_non_zero = "Compressed.init_non_zero_partition";
  static constexpr std::string_view non_zero_entry = "Compressed.non_zero_partition_entry";
  static constexpr std::string_view finalize_non_zero = "Compressed.finalize_non_zero_partition";
  static constexpr std::string_view from_parent = "Compressed.partition_from_parent";
  static constexpr std::string_view from_child = "Compressed.partition_from_child";
};

}  // namespace

template <>
const LevelFunctions& level_functions<levels::Compressed>() {
  static constexpr LevelFunctions table{pack,
                                        lists::children,
                                        lists::coordinate,
                                        lists::locate,
                                        lists::expand,
                                        verify,
                                        lists::Partitions<FunctionNames>::table};
  return table;
}

}  // namespace spdistal
