// Random partitions, and random pos and crd arrays cut into parts as ranks would hold them.
#pragma once
#include "partition/random_sets.hpp"
#include "runtime/partition/index_array.hpp"
#include "runtime/partition/partition.hpp"

namespace spdistal::runtime::testkit {

inline ColourGrid random_grid(Random& random) {
  std::vector<int64_t> extents;
  for (int64_t k = pick(random, 0, 2); k >= 0; k--) extents.push_back(pick(random, 1, k == 0 ? 5 : 2));
  return ColourGrid(extents);
}

/// Any pieces at all: empty ones, overlapping ones, more than there are elements.
inline Partition random_partition(Random& random, const ColourGrid& grid, int dims, int64_t extent) {
  Space universe(Rect::of_extents(std::vector<int64_t>(size_t(dims), extent)));
  std::vector<Space> pieces;
  for (int64_t c = 0; c < grid.count(); c++) pieces.push_back(random_space(random, dims, extent, 3));
  return Partition(grid, universe, std::move(pieces));
}

/// A level of `parents` with random children, some parents without any.
struct RandomLevel {
  std::vector<int64_t> pos{0}, crd;

  RandomLevel(Random& random, int64_t parents, int64_t coordinates) {
    for (int64_t p = 0; p < parents; p++) {
      for (int64_t n = coordinates == 0 ? 0 : pick(random, 0, 2) * pick(random, 0, 3); n > 0; n--)
        crd.push_back(pick(random, 0, coordinates - 1));
      pos.push_back(int64_t(crd.size()));
    }
  }
  int64_t parents() const { return int64_t(pos.size()) - 1; }
  int64_t positions() const { return int64_t(crd.size()); }
};

/// [0, n) cut at random places into `parts` consecutive ranges, some empty.
inline std::vector<Range> random_cuts(Random& random, int64_t n, int64_t parts) {
  std::vector<int64_t> at{0, n};
  while (int64_t(at.size()) <= parts) at.push_back(pick(random, 0, n));
  std::ranges::sort(at);
  std::vector<Range> out;
  for (size_t k = 0; k + 1 < at.size(); k++) out.push_back({at[k], at[k + 1]});
  return out;
}

/// The part of a crd array that one rank would hold, in the width asked for.
template <class I>
struct CrdPart {
  std::vector<I> values;
  int64_t first;
  CrdPart(const std::vector<int64_t>& all, Range part)
      : values(all.begin() + part.lo, all.begin() + part.hi), first(part.lo) {}
  LocalCrd<I> local() const { return {values, first}; }
};
/// The part of a pos array for some parents: with local positions, as a piece stores them.
template <class I>
struct PosPart {
  std::vector<I> entries;
  int64_t first_parent, first_position;
  PosPart(const std::vector<int64_t>& all, Range part) : first_parent(part.lo), first_position(all[size_t(part.lo)]) {
    for (int64_t p = part.lo; p <= part.hi; p++) entries.push_back(I(all[size_t(p)] - first_position));
  }
  LocalPos<I> local() const { return {entries, first_parent, first_position}; }
};

}  // namespace spdistal::runtime::testkit
