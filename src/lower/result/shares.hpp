// Kernels that assemble their result walk the loops share by share of the outermost one, more than once where they count
// first.
#pragma once
#include <functional>

#include "lower/result/walk.hpp"

namespace spdistal::lower {

/// May shares of the outermost loop make entries each for themselves? Those of a sum would each make the element that it
/// is of; in a list these add up.
bool walks_in_shares(const Context& c);

/// How many shares there are, and what each is.
struct ShareCount {
  ir::Expr count;
  Grain grain = Grain::Share;
};
/// As many as the call says; on a GPU the turns of the outermost loop, where these are plainly counted.
ShareCount count_shares(Context& c, const Scope& s);

/// What a share does, walking included.
using AroundShare = std::function<void(const Scope& s, const ir::Expr& share, const Inside& walk)>;
void walk_shares(Context& c, const Scope& s, const Rooms& rooms, const ShareCount& shares, const WalkLoops& walk,
                 const AroundShare& around);

/// A result that is counted, then filled: `cursors` counts there are.
struct Counted {
  size_t cursors;
  std::function<void(const std::vector<ir::Expr>& counts)> make_room;
};
/// Gives how many there are.
std::vector<ir::Expr> count_and_fill(Context& c, const Scope& s, const Rooms& rooms, const ShareCount& shares,
                                     const WalkLoops& walk, const Counted& counted);

}  // namespace spdistal::lower
