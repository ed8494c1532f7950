// Between spaces of different dimensions, per colour:
//
//   project   P'[c] = { (x_d for d in dims) : x ∈ P[c] }         fewer dimensions, in the order named
//   lift      P'[c] = { y ∈ box : (y_d for d in dims) ∈ P[c] }   more dimensions: all points above
//
//   2-D   . a a .    project to dim 1:  . a a .    lift that to 2-D:  . a a .
//         . a . .                                                     . a a .
#pragma once
#include "runtime/partition/partition.hpp"

namespace spdistal::runtime {

Partition project(const Partition& p, std::span<const int> dims);
Partition lift(const Partition& p, std::span<const int> dims, const Rect& box);

}  // namespace spdistal::runtime
