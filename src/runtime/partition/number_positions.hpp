// Global positions of a level whose pieces are not consecutive (CSC by rows, tiles): children of one parent are spread
// over pieces. They are numbered by parent, and within a parent by colour:
//
//   first(c, p) = Σ { count(b, q) : q < p, any b }  +  Σ { count(b, p) : b < c }
//
//   parents  0 1 2      counts  a: 2 0 1      first  a: 0 3 4
//                               b: 1 1 2             b: 2 3 5
//
// By blocks of the parents: a rank sends and keeps O(parents of its own pieces + those of its block).
#pragma once
#include <vector>

#include "runtime/space/space.hpp"
#include "runtime/transport/transport.hpp"

namespace spdistal::runtime {

/// How many children each parent that a piece knows has in it, in the order of the parents.
struct ChildCounts {
  int64_t colour;
  Space parents;
  std::vector<int64_t> counts;
};
struct Numbering {
  /// For each piece given, in the same order: the global position of the first child of each parent.
  std::vector<std::vector<int64_t>> first;
  /// How many children there are in all.
  int64_t total;
};

/// Collective. Each rank gives its own pieces; all parents are in [0, parents).
Numbering number_positions(Transport& transport, int64_t parents, const std::vector<ChildCounts>& pieces);

}  // namespace spdistal::runtime
