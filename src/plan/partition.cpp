#include "plan/partition.hpp"

#include "base/require.hpp"

namespace spdistal::plan {

std::string_view name_of(Op op) {
  switch (op) {
    case Op::Init: return "{}";
    case Op::Entry: return "entry";
    case Op::ByBounds: return "by_bounds";
    case Op::ByValueRanges: return "by_value_ranges";
    case Op::ByValueSet: return "by_value_set";
    case Op::Image: return "image";
    case Op::Preimage: return "preimage";
    case Op::Expand: return "expand";
    case Op::Contract: return "contract";
    case Op::Copy: return "copy";
    case Op::Intersect: return "intersect";
  }
  require(false, "an operator has a name");
  return {};
}

Fragment init(const Level& level, Colouring colouring, std::string_view format) {
  bool universe = colouring == Colouring::Universe;
  return {{.out = level.positions(),
           .op = Op::Init,
           .colouring = colouring,
           .function = {format, universe ? "init_universe_partition" : "init_non_zero_partition"}}};
}
Fragment entry(const Level& level, Colouring colouring, std::string_view format) {
  bool universe = colouring == Colouring::Universe;
  return {{.out = level.positions(),
           .op = Op::Entry,
           .colouring = colouring,
           .function = {format, universe ? "universe_partition_entry" : "non_zero_partition_entry"}}};
}

}  // namespace spdistal::plan
