// Image through pos, from parents to positions:  P'[c] = ∪ { [pos[i], pos[i+1]) : i ∈ P[c] }
//
//   parents    a a b          pos  0 2 2 5
//   positions  0 1 2 3 4
//   colour     a a b b b
//
// Of the parents that are here. One interval of parents gives one interval of positions, in constant time.
#pragma once
#include "runtime/partition/index_array.hpp"
#include "runtime/partition/partition.hpp"

namespace spdistal::runtime {

template <class I>
Space image(const Space& parents, const LocalPos<I>& pos);
template <class I>
Partition image(const Partition& parents, const Space& positions, const LocalPos<I>& pos);

}  // namespace spdistal::runtime
