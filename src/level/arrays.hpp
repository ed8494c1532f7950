// The arrays of one level of a tensor, or of a piece of one.
#pragma once
#include <cstdint>
#include <string_view>
#include <vector>

#include "base/blocks.hpp"
#include "level/index_array.hpp"

namespace spdistal {

/// Which of the arrays a level uses is its format's business.
struct LevelArrays {
  int64_t dim = 0;        // the size of the dimension that the level stores
  Range range;            // the coordinates that the piece covers: [0, dim) for a whole tensor
  int64_t positions = 0;  // how many positions the level has
  IndexArray pos, crd;
  std::vector<IndexArray> more = {};  // what else the level has, in its own order; as wide as pos
};

/// How many elements of `bytes` each `count` positions with `per` below each make. Throws UserError where that is more
/// than the machine's memory; `what` completes "… takes 8.0 TiB".
int64_t checked_positions(int64_t count, int64_t per, size_t bytes, std::string_view what);

}  // namespace spdistal
