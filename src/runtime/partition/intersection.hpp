// The intersection of two partitions over one grid, which is how several distributed variables cut one level:
//
//   R[c] = P[c] ∩ Q[c]
#pragma once
#include "runtime/partition/partition.hpp"

namespace spdistal::runtime {

Partition intersection(const Partition& p, const Partition& q);

}  // namespace spdistal::runtime
