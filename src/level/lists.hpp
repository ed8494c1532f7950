// What the levels that list coordinates (pos, crd) share.
#pragma once
#include <optional>
#include <string>

#include "level/kernel.hpp"
#include "level/level.hpp"

namespace spdistal::lists {

/// pos and crd of a level whose positions are the groups cut down to `to_level`.
LevelArrays pack(const PackLevel& in, Groups& groups, size_t to_level);
/// crd of all groups.
IndexArray pack_coordinates(const PackLevel& in, const Groups& groups);

Range children(const LevelArrays& level, int64_t parent);
int64_t parent(const LevelArrays& level, int64_t position);
int64_t coordinate(const LevelArrays& level, int64_t position);
/// The positions of a range whose coordinates rise that have the coordinate.
Range equal_range(const LevelArrays& level, Range positions, int64_t coordinate);
void locate(const LevelArrays& level, Range parents, int64_t coordinate, const std::function<void(Range)>& found);
void expand(const LevelArrays& level, int64_t parents, Array<int64_t>& coordinate, Array<int64_t>& parent);

/// Of a level with pos and crd; `ordered` is what it keeps in order: itself, or the whole run that it begins.
std::optional<std::string> verify(const LevelRun& run, const LevelRun& ordered);
/// pos rises from 0 to the number of positions.
std::optional<std::string> verify_positions(const LevelArrays& level, int64_t parents);
/// crd has an element per position, all inside the range.
std::optional<std::string> verify_coordinates(const LevelArrays& level);
/// The tuples of the run rise below each parent, none standing twice.
std::optional<std::string> verify_order(const LevelRun& run);

/// Partition functions of levels with pos and crd.
template <class L>
struct ListPartitions : Colourings<L> {
  static plan::Fragment finalize(const plan::Level& l, plan::Op op, plan::Colouring colouring,
                                 std::string_view function) {
    return {{l.positions(), op, {}, colouring, {L::name, function}},
            {l.parents(), plan::Op::Preimage, {l.positions()}, colouring, {L::name, function}}};
  }
  static plan::Fragment finalize_universe(const plan::Level& l) {
    return finalize(l, plan::Op::ByValueRanges, plan::Colouring::Universe, "finalize_universe_partition");
  }
  static plan::Fragment finalize_universe_set(const plan::Level& l) {
    return finalize(l, plan::Op::ByValueSet, plan::Colouring::Universe, "finalize_universe_partition");
  }
  static plan::Fragment finalize_non_zero(const plan::Level& l) {
    return finalize(l, plan::Op::ByBounds, plan::Colouring::NonZero, "finalize_non_zero_partition");
  }
  // The first level hangs from one root, which every colour has.
  static plan::Fragment from_parent(const plan::Level& l) {
    static constexpr plan::FunctionName name{L::name, "partition_from_parent"};
    return {{l.parents(), plan::Op::Copy, {l.above()}, {}, name},
            {l.positions(), plan::Op::Image, {l.parents()}, {}, name}};
  }
  static plan::Fragment from_child(const plan::Level& l) {
    static constexpr plan::FunctionName name{L::name, "partition_from_child"};
    return {{l.positions(), plan::Op::Copy, {l.asked_below()}, {}, name},
            {l.parents(), plan::Op::Preimage, {l.positions()}, {}, name}};
  }
};

/// How kernels use levels with pos and crd.
namespace kernel {

ir::Expr first(const KernelLevel& level, const ir::Expr& parent);
ir::Var weight(const KernelLevel& level);
ir::Expr coordinate(const KernelLevel& level, const ir::Expr& position);
ir::Expr step(const KernelLevel& level, const ir::Expr& position, const ir::Expr& start, const ir::Expr& end);
Located locate(const KernelLevel& level, const Above& above, const ir::Expr& coordinate);
/// In a segment of positions whose coordinates rise.
Located search(const KernelLevel& level, const Segment& positions, const ir::Expr& coordinate);
ir::Expr seek(const KernelLevel& level, const Above& above, const Segment& range, const ir::Expr& coordinate);
void append(const KernelLevel& level, const ir::Expr& position, const ir::Expr& coordinate);
std::vector<ir::Var> appended(const KernelLevel& level);

/// Of those that have each coordinate once below a parent.
inline constexpr KernelFunctions unique{.first = first,
                                        .weight = weight,
                                        .coordinate = coordinate,
                                        .locate = locate,
                                        .seek = seek,
                                        .append = append,
                                        .appended = appended};
/// Of those that may repeat them.
inline constexpr KernelFunctions repeating{
    .first = first, .weight = weight, .coordinate = coordinate, .step = step, .locate = locate, .seek = seek};

}  // namespace kernel

/// Everything but packing and verifying is the same for all of them.
template <class L>
constexpr LevelFunctions level_functions(LevelArrays (*pack)(const PackLevel&, Groups&),
                                         std::optional<std::string> (*verify)(const LevelRun&),
                                         const KernelFunctions& kernel) {
  return {pack, children, parent, coordinate, locate, expand, verify, partition_table<ListPartitions<L>>, &kernel};
}

}  // namespace spdistal::lists
