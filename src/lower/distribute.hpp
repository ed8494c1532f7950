// Concrete notation -> plan: the distributed loops of a statement and the steps inside them (paper, section IV).
//
// The loops around the leaf are those down to the last that is distributed or fetches something. For given values of
// them, the relations of the schedule leave an interval of every variable; an access that a variable indexes is cut by it
// (affine), one whose positions are dealt out is cut by those (split), others follow from the coordinates that occur in
// the pieces they are multiplied with (gather), or are needed whole (replicate).
#pragma once
#include <optional>
#include <vector>

#include "notation/concrete.hpp"
#include "notation/print.hpp"
#include "plan/plan.hpp"

namespace spdistal::lower {

/// An access whose stored positions are dealt out: the variable that counts the positions of the levels. Those of dense
/// levels at the end follow from the positions of the level above, `stored`, of which there are as many for each.
struct PositionSplit {
  IndexVar position;
  notation::Levels levels;
  size_t stored;
};

struct PlannedAccess {
  notation::Access access;
  std::vector<IndexVar> loops;  // whose values are known when its piece is fetched, or its result goes home
  std::optional<PositionSplit> split = {};
  /// Of each dimension: the level of a split access whose stored coordinates are all that loops come to.
  std::vector<std::optional<plan::Occurring>> by_position = {};
};

struct Distributed {
  plan::Plan plan;
  std::vector<notation::Forall> loops;  // around the leaf, outermost first; bodies are of no use
  notation::ConcreteStatement leaf;     // the statement without them
  std::vector<PlannedAccess> accesses;  // as in the plan: the result first
  notation::Provenance bounds;  // what the loops leave of variables follows from these relations (`number_places`)
};

/// A statement without distributed loops has a plan without loops.
Distributed distribute(const notation::ConcreteStatement& statement, notation::Printer& names);

}  // namespace spdistal::lower
