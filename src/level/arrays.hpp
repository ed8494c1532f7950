// The arrays of one level of a tensor, or of a piece of one.
#pragma once
#include <cstdint>
#include <string_view>
#include <vector>

#include "base/blocks.hpp"
#include "level/index_array.hpp"

namespace spdistal {

/// An array by the name that its level has for it.
struct NamedArray {
  std::string_view name;
  IndexArray array;
};

struct LevelArrays {
  int64_t dim = 0;                      // the size of the dimension that the level stores
  Range range;                          // the coordinates that the piece covers: [0, dim) for a whole tensor
  int64_t positions = 0;                // how many positions the level has
  std::vector<NamedArray> arrays = {};  // those that its format lists, in that order

  const IndexArray& operator[](std::string_view name) const;
};

/// How many elements of `bytes` each `count` positions with `per` below each make. Throws UserError where that is more
/// than the machine's memory; `what` completes "… takes 8.0 TiB".
int64_t checked_positions(int64_t count, int64_t per, size_t bytes, std::string_view what);

}  // namespace spdistal
