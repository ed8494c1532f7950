// Random cases that are the same on every rank, and what a rank knows of a partition that the test knows whole.
#pragma once
#include <gtest/gtest.h>

#include "base/blocks.hpp"
#include "mpi/ranks.hpp"
#include "partition/random_partitions.hpp"
#include "runtime/task/mapping.hpp"

namespace spdistal::runtime::testkit {

inline Range colours_here(const Transport& t, int64_t colours) {
  return Mapping(colours, t.size()).colours_of(t.rank());
}
inline Partition mine(const Transport& t, const Partition& p) { return p.restricted(colours_here(t, p.colours())); }

/// Of a rectangle: dimension k of the grid divides dimension dims[k] of it into blocks.
inline Partition by_blocks(const ColourGrid& grid, const Rect& box, const std::vector<int>& dims) {
  std::vector<Space> pieces;
  for (int64_t c = 0; c < grid.count(); c++) {
    std::vector<int64_t> point = grid.point_of(c);
    Rect piece = box;
    for (size_t k = 0; k < dims.size(); k++) {
      Range part = block(box[dims[k]].size(), grid.extents()[k], point[k]);
      piece.set(dims[k], {box[dims[k]].lo + part.lo, box[dims[k]].lo + part.hi});
    }
    pieces.emplace_back(piece);
  }
  return Partition(grid, Space(box), std::move(pieces));
}

/// Calls the check with a generator for each case. A failure on any rank ends the test on all, so that none waits.
inline void for_each_case(Transport& t, const char* name, int count, const std::function<void(Random&)>& check) {
  for (int seed = 0; seed < count; seed++) {
    announce(t, name, uint64_t(seed));
    SCOPED_TRACE(std::string(name) + " seed " + std::to_string(seed));
    Random random{uint64_t(seed)};
    check(random);
    if (t.allreduce(int32_t(::testing::Test::HasFailure()), ReduceOp::Max)) return;
  }
}

}  // namespace spdistal::runtime::testkit
