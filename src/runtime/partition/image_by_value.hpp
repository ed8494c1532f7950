// Image by value, the coordinates that occur:  P'[c] = { crd[p] : p ∈ P[c] }
//
//   crd        0 3 1 5 0 4
//   positions  a a a b b b     a: {0, 1, 3}   b: {0, 4, 5}
//
// Exact: what a gather has to bring, and nothing else. Of the positions that are here.
#pragma once
#include "runtime/partition/index_array.hpp"
#include "runtime/partition/partition.hpp"

namespace spdistal::runtime {

template <class I>
Space image_by_value(const Space& positions, const LocalCrd<I>& crd);
template <class I>
Partition image_by_value(const Partition& positions, const Space& coordinates, const LocalCrd<I>& crd);

}  // namespace spdistal::runtime
