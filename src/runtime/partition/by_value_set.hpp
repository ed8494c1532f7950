// Partition of positions by arbitrary sets of coordinates:  P[c] = { p : crd[p] ∈ Q[c] }
//
//   crd     0 3 1 5 0 4      Q: a = {0, 4} b = {3, 4}
//   colour  a b     a ab
//
// How a sparse operand gives the rows that occur elsewhere. Of the positions that are here.
#pragma once
#include "runtime/partition/index_array.hpp"
#include "runtime/partition/partition.hpp"

namespace spdistal::runtime {

template <class I>
Partition by_value_set(const Partition& coordinates, const Space& positions, const LocalCrd<I>& crd);

}  // namespace spdistal::runtime
