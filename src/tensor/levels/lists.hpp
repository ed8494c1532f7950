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

}  // namespace spdistal::lists
