// The positions of levels of an access that a loop runs over, and the coordinates that belong to them.
#pragma once
#include <functional>
#include <map>
#include <optional>

#include "lower/context.hpp"
#include "lower/scope.hpp"

namespace spdistal::lower {

/// Finds the position above one of a level whose positions add up.
using Parent = std::function<ir::Expr(size_t level, const ir::Expr& position)>;

/// The positions of the whole tensor below a block of coordinates of the first of the levels.
Segment positions_of_block(Context& c, const Scope& s, const notation::Levels& levels);
/// How many positions of the whole tensor the last of the levels has.
ir::Expr count_positions(Context& c, const Scope& s, const notation::Levels& levels);
/// The positions of a level below where the access is.
Segment positions_below(Context& c, const Scope& s, int operand, size_t level);
ir::Expr search_parent(Context& c, int tensor, size_t level, const ir::Expr& position);

/// Where an access comes to at a position, and the coordinates that it has there.
struct Reached {
  AccessState state;
  FoundValues found = {};
};
/// Goes to a position of the last of the levels.
Reached enter_position(Context& c, const Scope& s, const IndexVar& position_var, const notation::Levels& levels,
                       const ir::Expr& p, const Parent& parent);
/// From a position of a level up to the first of the levels: their coordinates, and their positions on the path.
void climb(Context& c, const notation::Levels& levels, size_t level, ir::Expr position, Reached& reached,
           const Parent& parent);
/// Does something where all positions of some levels, on the path of an access, store something.
void where_stored(Context& c, const notation::Levels& levels, const AccessState& state,
                  const std::function<void()>& inside);
/// Of the positions that a loop visits, those that a piece has.
Segment within_piece(Context& c, const Scope& s, const notation::Levels& levels, const Segment& range);
/// Does something where a piece has a position that is known otherwise than from a loop over them.
void where_in_piece(Context& c, const Scope& s, const notation::Levels& levels, const ir::Expr& p,
                    const std::function<void()>& inside);
/// The value of the variable that coordinates, the last level's first, together stand for; in a block they count from where it
/// begins. Seldom read.
ir::Expr fused(Context& c, const Scope& s, const notation::Levels& levels, const FoundValues& found);

/// Where the levels above are at the first position of a share: searched once; those down to `walked` are then walked
/// along.
std::map<size_t, ir::Var> search_parents(Context& c, const Scope& s, const notation::Levels& levels,
                                         const ir::Expr& first, size_t walked);
/// Walks along such levels: the parent of a position that is never before the one asked for last.
ir::Expr walk_to_parent(Context& c, int tensor, size_t level, const ir::Var& parent, const ir::Expr& position);

}  // namespace spdistal::lower
