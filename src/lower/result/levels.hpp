// The levels of a result that its kernel makes: those after the dense ones, position by position.
#pragma once
#include <optional>
#include <vector>

#include "lower/context.hpp"
#include "lower/scope.hpp"

namespace spdistal::lower {

/// The levels of a result that are not dense: the first of them, and whether a piece may have places above them that the
/// loops do not come to.
struct MadeLevels {
  size_t dense = 0;
  size_t count = 0;
  bool gaps = false;

  size_t last() const { return dense + count - 1; }
};
MadeLevels made_levels(Context& c);
/// Can all of them be made, in the order in which loops come to their coordinates?
bool can_be_made(const Context& c);

/// A level as its functions see it, the array that tells how its positions add up, the arrays that have an element for
/// each position, and the values: those of the result, or in a share's part those that stand for them.
KernelLevel made_level(Context& c, const Scope& s, size_t level);
ir::Var made_weight(Context& c, const Scope& s, size_t level);
std::vector<ir::Var> made_arrays(Context& c, const Scope& s, size_t level);
ir::Var made_vals(Context& c, const Scope& s);

/// How many places the dense levels have.
ir::Expr places_of(Context& c, const MadeLevels& made);
/// Gives each level room for so many positions.
void make_room(Context& c, const Scope& s, const MadeLevels& made, const std::vector<ir::Expr>& counts);
/// Places that the loops do not come to end where those before them end.
void close_gaps(Context& c, const Scope& s, const MadeLevels& made);
/// With what there is of each level, when all of it is there.
void finish_levels(Context& c, const Scope& s, const MadeLevels& made, const std::vector<ir::Expr>& counts);

/// Are positions narrow, so that there may be too many? Then a kernel with wider ones is run instead.
bool has_narrow_positions(Context& c, const Scope& s, const MadeLevels& made);
void leave_where_too_many(Context& c, const Scope& s, const MadeLevels& made, const ir::Expr& total);

}  // namespace spdistal::lower
