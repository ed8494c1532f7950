#include "passes/tables.hpp"

#include "passes/tables/division.hpp"

namespace spdistal::passes {

using namespace ir;

std::optional<TableGrids> table_grids(const ParallelRegion& region, const std::string& name,
                                      const GridMapping& mapping) {
  if (region.setup.empty() || mapping.lanes.value_or(warp_size) != warp_size) return {};
  std::optional<Gathering> item = gathering_of(region);
  if (!item || !has_room_for_tables(*item, mapping.average_row)) return {};
  Var left = var("left", array_of(ScalarType::Int64)), queue = var("queue", array_of(ScalarType::Int64));
  Var queued = var("queued", Int64);
  return TableGrids{near_grid(region, *item, left, name + "_near", mapping.average_row), left,
                    far_grid(region, *item, queue, queued, name + "_far", mapping.average_row), queue, queued};
}

}  // namespace spdistal::passes
