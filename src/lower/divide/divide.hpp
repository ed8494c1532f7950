// How a loop is divided: not at all, or in shares; by the threads, or, where a result is assembled, by whoever walks it
// share by share.
#pragma once
#include <functional>
#include <string>

#include "lower/iterate/loop.hpp"

namespace spdistal::lower {

/// A part of a range, of so many that follow each other. None: by length.
using CutFunction = std::function<Segment(const Segment& range, const ir::Expr& part, const ir::Expr& parts)>;
/// Where a part of one length begins.
ir::Expr evenly(const Segment& range, const ir::Expr& part, const ir::Expr& parts);

/// Parts that go from where they begin to where the next one does; the last goes to the end of the range.
using BeginFunction = std::function<ir::Expr(const Segment& range, const ir::Expr& part, const ir::Expr& parts)>;
CutFunction up_to_the_end(const BeginFunction& begin);

/// An array that tells how the work before each index adds up; index `first` stands at its beginning.
struct Weight {
  ir::Var sums;
  ir::Expr first = ir::int64(0);
};
CutFunction by_weight(const Context& c, const Segment& range, const Weight& weight);

enum class Division : uint8_t {
  None,      // all of it is walked here
  OneShare,  // the share at hand is
  Segment,   // a segment that was told is
  Threads,   // each thread walks shares of it
};
Division division_of(const Context& c, const Scope& s, const ForallLoop& loop);
/// May threads run the turns of a loop, where there are any?
bool may_run_in_parallel(const Context& c, const notation::Forall& loop);
bool can_run_in_parallel(const Context& c, const Scope& s, const notation::Forall& loop);

/// Walks a range as the loop is divided. What is walked is a part of the range, unless there is no division.
using WalkFunction = std::function<void(const Scope& s, const Segment& mine, Reach reach)>;
void divide(Context& c, const Scope& s, const ForallLoop& loop, const std::string& name, const Segment& range,
            const CutFunction& cut, const WalkFunction& walk);

/// The same where every turn may be a share of its own: on a GPU each is. Requires Division::Threads.
void divide_by_turns(Context& c, const Scope& s, const ForallLoop& loop, const std::string& name, const Segment& range,
                     const WalkFunction& walk);

/// Runs for every share; what `setup` allocates each thread has for itself. One share is run in its place.
void each_share(
    Context& c, const ir::Expr& shares, const std::function<void(const ir::Expr& share)>& fill,
    const std::function<void()>& setup = [] {});

}  // namespace spdistal::lower
