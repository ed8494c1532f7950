// The loops of a statement, walked as often as its strategy asks for: to count and to fill, in the place of the result or in
// parts of it.
#pragma once
#include <functional>
#include <vector>

#include "lower/temporaries.hpp"

namespace spdistal::lower {

/// Walks the loops, all of them or the share at hand, with the cursors, arrays and workspaces of the scope.
using WalkLoops = std::function<void(const Scope& s)>;

/// Emits them where they are walked.
WalkLoops walk_in_place(Context& c);

/// What differs from one walk to the other.
struct WalkPlaces {
  size_t cursors;
  std::vector<ir::Var> arrays;  // of the result, which are filled; or what stands for them
  bool counts = false;          // some only count
  bool parts = false;           // some fill parts
};
/// Emits them here, as a part of the kernel with these places: walking performs it.
WalkLoops define_walk(Context& c, const Scope& s, const Rooms& rooms, const WalkPlaces& places);

}  // namespace spdistal::lower
