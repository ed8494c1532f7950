// Other numbers for the coordinates of a dimension, so that a piece has places for just those that occur: first a range as it
// lies at home, then all others, the ghosts, behind it.
//
//   coordinates   . . 2 . | 4 5 6 7 | . 9 . 11          a home piece has [4, 8); 2, 9 and 11 occur too
//   numbers           4     0 1 2 3     5   6           with `behind` = 4
//
// Where hardly anything is between them they are numbered as they are: the ghosts lie around the home piece, 2 in the second row in
// front of it, and no array of numbers is made.
#pragma once
#include <cstdint>
#include <optional>

#include "level/index_array.hpp"
#include "runtime/region/layout.hpp"
#include "runtime/space/space.hpp"

namespace spdistal {

struct Numbering {
  Range home;                        // numbers 0, 1, …; nothing where no home piece is used as it lies
  int64_t behind = 0;                // the number of the first ghost
  runtime::Space ghosts;             // in ascending order; none is in `home`
  std::optional<Range> around = {};  // coordinates stay, and have places for all of these

  /// What a piece has places for: coordinates that stay, or numbers.
  Range places() const { return around.value_or(Range{0, behind + ghosts.size()}); }
  runtime::Axis axis() const;
  /// An array of coordinates that all have numbers, as numbers.
  IndexArray operator()(const IndexArray& coordinates) const;
};

}  // namespace spdistal
