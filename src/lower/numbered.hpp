// Which coordinates a kernel uses for nothing but to find places: they may be any numbers, as long as what stores them and what
// is found by them agree.
//
//   for (p …) { j = B2_crd[p]; a[i] += B[p] * c[j - c1_lo]; }        c1 is found by what B2 stores, and j is used no more
#pragma once
#include <vector>

#include "lower/lower.hpp"

namespace spdistal::lower {

/// Levels of operands whose coordinates may be exchanged for other numbers, in all of them alike.
struct NumberedLevels {
  std::vector<LevelOfTensor> stored;   // those that have the numbers in an array
  std::vector<LevelOfTensor> located;  // those with a place for each, counted from the first coordinate that they cover
  bool operator==(const NumberedLevels&) const = default;
};

/// All that there are. The coordinates of `stored` levels are read and counted from the first of a `located` level, and the
/// `located` levels are come to in no other way: they are not walked, not compared, not stored, and lead nowhere else.
std::vector<NumberedLevels> numbered_levels(const Lowered& kernel);

}  // namespace spdistal::lower
