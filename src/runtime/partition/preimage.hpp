// Preimage through pos, from positions to parents:  P'[c] = { i : [pos[i], pos[i+1]) ∩ P[c] ≠ ∅ }
//
//   positions  a a a b b      pos  0 2 2 5
//   parents    0: a   1: (has none, in no piece)   2: a b
//
// Of the parents that are here.
#pragma once
#include "runtime/partition/index_array.hpp"
#include "runtime/partition/partition.hpp"

namespace spdistal::runtime {

template <class I>
Space preimage(const Space& positions, const LocalPos<I>& pos);
template <class I>
Partition preimage(const Partition& positions, const Space& parents, const LocalPos<I>& pos);

}  // namespace spdistal::runtime
