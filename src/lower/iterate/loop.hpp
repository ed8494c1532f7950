// A forall as the loop that is emitted for it sees it.
#pragma once
#include <vector>

#include "lower/context.hpp"
#include "lower/scope.hpp"

namespace spdistal::lower {

/// Does a loop over a coordinate visit all its values, or a range of them?
enum class Reach : uint8_t { Whole, Part };

/// Does what a loop adds up have one sum, or each share of the loop one of its own, which is added to the element?
enum class Sums : uint8_t { Together, InShares };

/// The loop's variable is followed up through sums with what is known: blocks of blocks of i are ranges of i.
struct ForallLoop {
  notation::Forall forall;
  IndexVar var;   // at the top
  Segment range;  // of its values
  Reach reach;
  std::vector<std::pair<IndexVar, ir::Expr>> below = {};  // variables on the way, and how far they lie below the top
  Sums sums = Sums::Together;

  const notation::Stmt& body() const { return forall.body; }
  /// What is known with the value of the variable at the top.
  FoundValues at(const ir::Expr& value) const;
};

ForallLoop loop_of(Context& c, const Scope& s, const notation::Forall& forall);

}  // namespace spdistal::lower
