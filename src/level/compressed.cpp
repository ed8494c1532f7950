// Compressed: each distinct coordinate below a parent once.
#include "level/lists.hpp"

namespace spdistal {
namespace {

LevelArrays pack(const PackLevel& in, Groups& groups) { return lists::pack(in, groups, in.level); }
std::optional<std::string> verify(const LevelRun& run) {
  return lists::verify(run, {run.levels.first(1), run.parents});
}

}  // namespace

template <>
const LevelFunctions& level_functions<levels::Compressed>() {
  static constexpr LevelFunctions table =
      lists::level_functions<levels::Compressed>(pack, verify, lists::kernel::unique);
  return table;
}

}  // namespace spdistal
