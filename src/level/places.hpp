// What the levels share that have a place for every coordinate: position = parent * extent + (coordinate - lo).
#pragma once
#include <optional>
#include <string>

#include "level/kernel.hpp"
#include "level/level.hpp"

namespace spdistal::places {

/// Moves the groups on to their places.
LevelArrays pack(const PackLevel& in, Groups& groups);

Range children(const LevelArrays& level, int64_t parent);
int64_t parent(const LevelArrays& level, int64_t position);
int64_t coordinate(const LevelArrays& level, int64_t position);
void locate(const LevelArrays& level, Range parents, int64_t coordinate, const std::function<void(Range)>& found);
void expand(const LevelArrays& level, int64_t parents, Array<int64_t>& coordinate, Array<int64_t>& parent);
/// There are as many positions as places.
std::optional<std::string> verify(const LevelRun& run);

/// Partition functions of levels with places.
template <class L>
struct PlacePartitions : Colourings<L> {
  static plan::Fragment finalize(const plan::Level& l, plan::Colouring colouring, std::string_view function) {
    return {{l.positions(), plan::Op::ByBounds, {}, colouring, {L::name, function}},
            {l.parents(), plan::Op::Contract, {l.positions()}, colouring, {L::name, function}}};
  }
  static plan::Fragment finalize_universe(const plan::Level& l) {
    return finalize(l, plan::Colouring::Universe, "finalize_universe_partition");
  }
  static plan::Fragment finalize_universe_set(const plan::Level& l) { return finalize_universe(l); }
  static plan::Fragment finalize_non_zero(const plan::Level& l) {
    return finalize(l, plan::Colouring::NonZero, "finalize_non_zero_partition");
  }
  static plan::Fragment from_parent(const plan::Level& l) {
    return {{l.positions(), plan::Op::Expand, {l.above()}, {}, {L::name, "partition_from_parent"}}};
  }
  static plan::Fragment from_child(const plan::Level& l) {
    return {{l.positions(), plan::Op::Copy, {l.asked_below()}, {}, {L::name, "partition_from_child"}},
            {l.parents(), plan::Op::Contract, {l.positions()}, {}, {L::name, "partition_from_child"}}};
  }
};

/// How kernels use them.
namespace kernel {

ir::Expr first(const KernelLevel& level, const ir::Expr& parent);
ir::Expr per_parent(const KernelLevel& level);
ir::Expr coordinate(const KernelLevel& level, const ir::Expr& position);
ir::Expr coordinate_below(const KernelLevel& level, const ir::Expr& parent, const ir::Expr& position);
ir::Expr place(const KernelLevel& level, const ir::Expr& parent, const ir::Expr& coordinate);

}  // namespace kernel

}  // namespace spdistal::places
