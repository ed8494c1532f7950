// Between a dense level and the positions below its parent, per colour:
//
//   expand    P'[c] = { p·n + k : p ∈ P[c], k ∈ [0, n) }     parents -> positions of a dense level of extent n
//   contract  P'[c] = { q div n : q ∈ P[c] }                 positions -> parents, the inverse
//   flatten   P'[c] = { row-major number of x in the box : x ∈ P[c] }     rectangles -> intervals of positions
//
// Numbers that do not fit 63 bits are refused.
#pragma once
#include "runtime/partition/partition.hpp"

namespace spdistal::runtime {

Space expand(const Space& parents, int64_t extent);
Space contract(const Space& positions, int64_t extent);
Space flatten(const Space& set, const Rect& box);

Partition expand(const Partition& parents, int64_t extent);
Partition contract(const Partition& positions, int64_t extent);
Partition flatten(const Partition& p, const Rect& box);

}  // namespace spdistal::runtime
