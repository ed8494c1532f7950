// for (name = begin; name < end; …): the loop that ranges and positions have in common, divided and in vectors where
// nothing speaks against it.
#pragma once
#include <functional>
#include <string>

#include "lower/divide/divide.hpp"

namespace spdistal::lower {

/// Does nothing but the loop's own variable change from turn to turn, or are accesses walked along?
enum class Alone : uint8_t { Yes, No };

struct Turns {
  std::string name;
  Segment range;
  CutFunction cut = {};
  Alone alone = Alone::No;
  Grain grain = Grain::Turn;
};

/// `walk` runs over a share's part of the turns.
using WalkTurns = std::function<void(const Scope& s, const Segment& mine, const ir::LoopOptions& options)>;
void run_turns(Context& c, const Scope& s, const ForallLoop& loop, const Turns& turns, const WalkTurns& walk);

/// The kind of loop that suits turns which walk a range.
ir::LoopOptions loop_options(const Context& c, const Scope& s, const ForallLoop& loop, Alone alone);

}  // namespace spdistal::lower
