// Union, intersection and difference of sets in bands, for any number of dimensions: one sweep along the first
// dimension, the same again for the cross sections of each slab.
#pragma once
#include <vector>

#include "runtime/space/rect.hpp"

namespace spdistal::runtime {

enum class SetOp { Unite, Intersect, Subtract };

/// Some consecutive rectangles of a list in canonical form.
struct Bands {
  const Range* sides;
  size_t count;
};

/// The sides of the result in canonical form; both operands are in canonical form with `dims` sides per rectangle.
std::vector<Range> combine(SetOp op, Bands a, Bands b, size_t dims);

}  // namespace spdistal::runtime
