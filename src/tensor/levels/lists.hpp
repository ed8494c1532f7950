// What the levels that list coordinates (pos, crd) share.
#pragma once
#include <optional>
#include <string>

#include "tensor/levels/level.hpp"

namespace spdistal::lists {

/// pos and crd of a level whose positions are the groups cut down to `to_level`.
LevelArrays pack(const PackLevel& in, Groups& groups, size_t to_level);
/// crd of all groups.
IndexArray pack_coordinates(const PackLevel& in, const Groups& groups);

Range children(const LevelArrays& level, int64_t parent);
int64_t coordinate(const LevelArrays& level, int64_t position);
/// The positions of a range whose coordinates rise that have the coordinate.
Range equal_range(const LevelArrays& level, Range positions, int64_t coordinate);
void locate(const LevelArrays& level, Range parents, int64_t coordinate, const std::function<void(Range)>& found);
void expand(const LevelArrays& level, int64_t parents, Array<int64_t>& coordinate, Array<int64_t>& parent);

/// pos rises from 0 to the number of positions.
std::optional<std::string> verify_positions(const LevelArrays& level, int64_t parents);
/// crd has an element per position, all inside the range.
std::optional<std::string> verify_coordinates(const LevelArrays& level);
/// The tuples of the run rise below each parent, none standing twice.
std::optional<std::string> verify_order(const LevelRun& run);

/// Partition functions of levels with pos and crd; `Name` holds the names that statements are marked with.
template <class Name>
struct Partitions {
  static plan::Fragment init_universe(const plan::Level& l) {
    return plan::init(l, plan::Colouring::Universe, Name::init_universe);
  }
  static plan::Fragment universe_entry(const plan::Level& l) {
    return plan::entry(l, plan::Colouring::Universe, Name::universe_entry);
  }
  static plan::Fragment finalize(const plan::Level& l, plan::Op op, plan::Colouring colouring,
                                 std::string_view function) {
    return {{l.positions(), op, {}, colouring, function},
            {l.parents(), plan::Op::Preimage, {l.positions()}, colouring, function}};
  }
  static plan::Fragment finalize_universe(const plan::Level& l) {
    return finalize(l, plan::Op::ByValueRanges, plan::Colouring::Universe, Name::finalize_universe);
  }
  static plan::Fragment finalize_universe_set(const plan::Level& l) {
    return finalize(l, plan::Op::ByValueSet, plan::Colouring::Universe, Name::finalize_universe);
  }
  static plan::Fragment init_non_zero(const plan::Level& l) {
    return plan::init(l, plan::Colouring::NonZero, Name::init_non_zero);
  }
  static plan::Fragment non_zero_entry(const plan::Level& l) {
    return plan::entry(l, plan::Colouring::NonZero, Name::non_zero_entry);
  }
  static plan::Fragment finalize_non_zero(const plan::Level& l) {
    return finalize(l, plan::Op::ByBounds, plan::Colouring::NonZero, Name::finalize_non_zero);
  }
  // The first level hangs from one root, which every colour has.
  static plan::Fragment from_parent(const plan::Level& l) {
    return {{l.parents(), plan::Op::Copy, {l.above()}, {}, Name::from_parent},
            {l.positions(), plan::Op::Image, {l.parents()}, {}, Name::from_parent}};
  }
  static plan::Fragment from_child(const plan::Level& l) {
    return {{l.positions(), plan::Op::Copy, {l.asked_below()}, {}, Name::from_child},
            {l.parents(), plan::Op::Preimage, {l.positions()}, {}, Name::from_child}};
  }
  static constexpr plan::PartitionFunctions table{init_universe,         universe_entry, finalize_universe,
                                                  finalize_universe_set, init_non_zero,  non_zero_entry,
                                                  finalize_non_zero,     from_parent,    from_child};
};

}  // namespace spdistal::lists
