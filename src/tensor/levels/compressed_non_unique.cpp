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

struct FunctionNames {
  static constexpr std::string_view init_universe = "CompressedNonUnique.init_universe_partition";
  static constexpr std::string_view universe_entry = "CompressedNonUnique.universe_partition_entry";
  static constexpr std::string_view finalize_universe = "CompressedNonUnique.finalize_universe_partition";
  static constexpr std::string_view init_non_zero = "CompressedNonUnique.init_non_zero_partition";
  static constexpr std::string_view non_zero_entry = "CompressedNonUnique.non_zero_partition_entry";
  static constexpr std::string_view finalize_non_zero = "CompressedNonUnique.finalize_non_zero_partition";
  static constexpr std::string_view from_parent = "CompressedNonUnique.partition_from_parent";
  static constexpr std::string_view from_child = "CompressedNonUnique.partition_from_child";
};

}  // namespace

template <>
const LevelFunctions& level_functions<levels::CompressedNonUnique>() {
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
