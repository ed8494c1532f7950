// The ways in which a result is appended to, level by level.
#pragma once
#include "lower/iterate/loop.hpp"
#include "lower/result/levels.hpp"
#include "lower/result/walk.hpp"

namespace spdistal::lower {

/// Operands that bound what there will be: one of them stores an element wherever the result does.
std::optional<std::vector<int>> bounding_tensors(const Context& c, const MadeLevels& made);
/// How much there can be at most of each level that is made, below positions of the level above them.
std::vector<ir::Expr> bounds_of_levels(Context& c, const MadeLevels& made, const std::vector<int>& tensors,
                                       const std::function<Segment(int tensor)>& rows);

/// Fills the result in its place, by one thread.
void fill_at_once(Context& c, const Scope& s, const Rooms& rooms, const MadeLevels& made,
                  const std::vector<ir::Expr>& most, const WalkLoops& walk);
/// Fills parts, by all threads, which are put behind each other.
void fill_in_parts(Context& c, const Scope& s, const Rooms& rooms, const MadeLevels& made,
                   const std::vector<ir::Expr>& most, const std::vector<int>& bounding, const WalkLoops& walk);

}  // namespace spdistal::lower
