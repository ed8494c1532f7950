// Partitions: colour -> subset of a universe. A rank knows the pieces of some consecutive colours, as a rule its own; a
// partition is whole where all are known. Pieces may overlap, be empty, and leave parts of the universe out.
//
// Always holds: every piece is within the universe; whether a whole partition is disjoint and complete is computed.
#pragma once
#include <optional>
#include <vector>

#include "runtime/partition/grid.hpp"
#include "runtime/space/space.hpp"

namespace spdistal::runtime {

class Partition {
 public:
  /// A whole partition: one piece for each colour.
  Partition(ColourGrid grid, Space universe, std::vector<Space> pieces);
  /// The pieces of the colours `known`.
  Partition(ColourGrid grid, Space universe, Range known, std::vector<Space> pieces);

  const ColourGrid& grid() const { return grid_; }
  int64_t colours() const { return grid_.count(); }
  const Space& universe() const { return universe_; }
  int dims() const { return universe_.dims(); }
  Range known() const { return known_; }
  bool is_whole() const { return known_ == Range{0, colours()}; }
  const Space& operator[](int64_t colour) const;

  /// ∀ c ≠ d: P[c] ∩ P[d] = ∅. Of a whole partition; `facts` (facts.hpp) answers for distributed ones.
  bool disjoint() const;
  /// ∪ P[c] = universe. Of a whole partition.
  bool complete() const;
  /// ∪ P[c] over the known colours.
  Space all() const;
  /// The same pieces, those of colours outside `colours` forgotten.
  Partition restricted(Range colours) const;

  bool operator==(const Partition& other) const {
    return grid_ == other.grid_ && universe_ == other.universe_ && known_ == other.known_ && pieces_ == other.pieces_;
  }

 private:
  ColourGrid grid_;
  Space universe_;
  Range known_;
  std::vector<Space> pieces_;
  mutable std::optional<bool> disjoint_, complete_;
};

/// Whether no two of the sets share a point: O(n log n) for n intervals.
bool are_disjoint(std::span<const Space> sets);

/// P'[c] = f(c, P[c]) for the known colours.
template <class F>
Partition map_pieces(const Partition& p, Space universe, F&& f) {
  std::vector<Space> pieces;
  for (int64_t c = p.known().lo; c < p.known().hi; c++) pieces.push_back(f(c, p[c]));
  return Partition(p.grid(), std::move(universe), p.known(), std::move(pieces));
}

}  // namespace spdistal::runtime
