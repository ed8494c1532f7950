// Shares: what each colour holds of a distributed tensor, said once for all colours and known to every rank. Elements
// belong by their coordinates, by the row-major number of several coordinates, or by their place in storage:
//
//   rows in blocks        coordinates[0] = [0, 4)            of colour 0
//   a copy everywhere     all coordinates                    of every colour
//   equal shares of       positions = {level 1, part 0 of 3}
//   the non-zeros
//   … of a block of       positions = {level 1, part 0 of 3, rows [0, 4)}
//   rows
//
// A colour holds the elements that satisfy all of its share. Shares may overlap; together they hold every element.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "runtime/partition/grid.hpp"
#include "runtime/space/box_index.hpp"
#include "runtime/space/space.hpp"
#include "spdistal/format.hpp"
#include "spdistal/result.hpp"

namespace spdistal {

class Tree;

/// The row-major number of these coordinates, the first the slowest, lies in the range.
struct FusedRange {
  std::vector<size_t> dims;
  Range range;
  bool operator==(const FusedRange&) const = default;
};

/// A part of a row of things, or a part of such a part, as loops leave it that are divided again and again: every part is
/// divided as if it were of full size, and what lies beyond its end is left out.
///
///   of 5 things   1 of 2             [3, 5)
///                 0 of 2, 1 of 2     [2, 3)     blocks of 3, and blocks of 2 of each 3
///                 1 of 2, 1 of 2     [5, 5)
struct NestedParts {
  struct Part {
    int64_t number, of;
    bool operator==(const Part&) const = default;
  };
  std::vector<Part> parts;  // outermost first
  bool operator==(const NestedParts&) const = default;

  /// How many parts there are of the innermost kind, and which of them this is, in order.
  int64_t count() const;
  int64_t number() const;
  /// The things that it has, of so many.
  Range of(int64_t things) const;
  /// Which of all parts like this one has a thing.
  int64_t number_with(int64_t things, int64_t thing) const;
  bool are_alike(const NestedParts& other) const;
};

/// The position at a level of the whole tensor lies in the part: of all of them, or of those below some coordinates of the first
/// level.
struct PositionBlock {
  size_t level;
  NestedParts part;
  std::optional<Range> rows = {};
  bool operator==(const PositionBlock&) const = default;

  /// The part of these positions.
  Range of(const Range& positions) const {
    Range out = part.of(positions.size());
    return {positions.lo + out.lo, positions.lo + out.hi};
  }
};

struct Share {
  std::vector<runtime::Space> coordinates;  // for each dimension
  std::vector<FusedRange> fused = {};
  std::vector<PositionBlock> positions = {};
  bool operator==(const Share&) const = default;
};

/// Of all colours, the same on every rank.
struct Shares {
  runtime::ColourGrid grid;
  std::vector<Share> of;
  bool operator==(const Shares&) const = default;
};

/// The positions that a block is a part of, at a level that no sparse one stands above: numbers of coordinates.
Range numbers_of(const PositionBlock& split, const Tree& tree);

/// Everything.
Share whole_share(const std::vector<int64_t>& dims);
/// One colour that holds everything.
Shares undivided(const std::vector<int64_t>& dims);
/// So many blocks along the dimension of the first stored level; a scalar is at every colour.
Shares blocked(const Format& format, const std::vector<int64_t>& dims, int64_t colours);

/// What must hold of shares: one for each colour, sets within the dimensions, fused numbers that can be counted, and
/// position blocks of the same levels and numbers of parts on all colours that hold anything. Rows of position blocks are
/// those that the share has of the first level, the same ones or others than those of another colour, and no level at
/// the end of the format that is dense has blocks of them, nor one below rows that are filled or in no order.
Result<> check(const Shares& shares, const Format& format, const std::vector<int64_t>& dims);

/// The same shares, simpler: where all levels down to one are dense, its positions are fused numbers of coordinates;
/// conditions that everything satisfies are left out; position blocks are in the order of their levels.
Shares simplified(Shares shares, const Format& format, const std::vector<int64_t>& dims);

/// Whether coordinates and fused numbers satisfy a share; positions are not asked.
bool admits(const Share& share, const std::vector<int64_t>& dims, std::span<const int64_t> at);

/// The smallest range of each dimension that holds what coordinates and fused numbers allow; all empty where nothing is.
std::vector<Range> hull(const Share& share, const std::vector<int64_t>& dims);
/// Whether no element can satisfy it, by coordinates and fused numbers.
bool holds_nothing(const Share& share, const std::vector<int64_t>& dims);

/// Whether some element may satisfy both, as far as the first `levels` levels tell.
bool may_meet(const Share& a, const Share& b, const Format& format, size_t levels);
/// The colours that `may_meet` may hold of, found without asking each pair.
class ShareIndex {
 public:
  ShareIndex(const Shares& shares, const Format& format, const std::vector<int64_t>& dims, size_t levels);
  /// Colours below one whose shares it may meet; others hold nothing in common with it.
  std::vector<int64_t> before(int64_t colour) const;

 private:
  std::vector<std::vector<Range>> boxes_;
  runtime::BoxIndex index_;
};

/// Whether what satisfies `inner` satisfies `outer`. "No" may be wrong.
bool covers(const Share& outer, const Share& inner);

/// The row-major number of some coordinates.
int64_t fused_number(std::span<const size_t> dims_fused, const std::vector<int64_t>& dims, std::span<const int64_t> at);

/// Equal shares have equal hashes, on every rank.
uint64_t hash(const Share& share);
uint64_t hash(const Shares& shares);

/// For each colour the lowest one with the same share: their pieces are copies of each other.
std::vector<int64_t> first_alike(const Shares& shares);

}  // namespace spdistal
