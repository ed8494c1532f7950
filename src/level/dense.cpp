// Dense: every coordinate is stored, in its place. No arrays.
#include "level/places.hpp"

namespace spdistal {
namespace {

constexpr KernelFunctions kernel{.first = places::kernel::first,
                                 .per_parent = places::kernel::per_parent,
                                 .coordinate = places::kernel::coordinate,
                                 .coordinate_below = places::kernel::coordinate_below,
                                 .place = places::kernel::place};

}  // namespace

template <>
const LevelFunctions& level_functions<levels::Dense>() {
  static constexpr LevelFunctions table{
      places::pack,   places::children, places::parent, places::coordinate,
      places::locate, places::expand,   places::verify, partition_table<places::PlacePartitions<levels::Dense>>,
      &kernel};
  return table;
}

}  // namespace spdistal
