// Compressed, non-unique: a coordinate for every distinct tuple of the run (this level and the Singletons after it).
#include "level/lists.hpp"

namespace spdistal {
namespace {

LevelArrays pack(const PackLevel& in, Groups& groups) { return lists::pack(in, groups, in.run_end); }
std::optional<std::string> verify(const LevelRun& run) { return lists::verify(run, run); }

}  // namespace

template <>
const LevelFunctions& level_functions<levels::CompressedNonUnique>() {
  static constexpr LevelFunctions table =
      lists::level_functions<levels::CompressedNonUnique>(pack, verify, lists::kernel::repeating);
  return table;
}

}  // namespace spdistal
