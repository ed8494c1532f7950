// Partition of positions by the ranges their coordinates fall in:  P[c] = { p : crd[p] ∈ ranges[c] }
//
//   crd     0 3 1 5 0 4      ranges: a = [0,3) b = [3,6)
//   colour  a b a b a b
//
// Ranges may overlap, be empty, and leave coordinates out. Of the positions that are here. Time O(n log colours + size of the result).
#pragma once
#include "runtime/partition/index_array.hpp"
#include "runtime/partition/partition.hpp"

namespace spdistal::runtime {

template <class I>
Partition by_value_ranges(const ColourGrid& grid, const Space& positions, std::span<const Range> ranges,
                          const LocalCrd<I>& crd);

}  // namespace spdistal::runtime
