// Set operations per colour, of two partitions over one grid; and partitions over other grids:
//
//   intersection  R[c] = P[c] ∩ Q[c]
//   union_of      R[c] = P[c] ∪ Q[c]
//   difference    R[c] = P[c] \ Q[c]
//   spread        R[c] = P[(c_k for k in dims)]     over a larger grid: the same piece along the dimensions not named
//
// The intersection of spread partitions is how several distributed variables cut one level.
#pragma once
#include "runtime/partition/partition.hpp"

namespace spdistal::runtime {

Partition intersection(const Partition& p, const Partition& q);
Partition union_of(const Partition& p, const Partition& q);
Partition difference(const Partition& p, const Partition& q);

/// P is whole; dimension k of its grid is dimension dims[k] of the larger one.
Partition spread(const Partition& p, const ColourGrid& grid, std::span<const int> dims);

}  // namespace spdistal::runtime
