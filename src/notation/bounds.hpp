// What is left of each index variable inside loops whose values are known: the other loops range freely, and the
// relations of the schedule give an interval for every variable they replaced.
//
//   divide(i, io, ii, 4), |i| = 10, io = 3     ->  i in [9, 10)
//
// Always holds: an interval contains every value that an iteration can have; it is exact for divisions, splits,
// rotations by known amounts and anything made of them.
#pragma once
#include <functional>
#include <map>
#include <optional>
#include <vector>

#include "base/blocks.hpp"
#include "notation/provenance.hpp"

namespace spdistal::notation {

/// The values of the loops around.
using LoopValues = std::map<IndexVar, int64_t>;

/// Fused variables of which a range is left: the row-major number of their values, the first the most significant.
struct FusedInterval {
  std::vector<IndexVar> vars;
  Range range;
};

class Bounds {
 public:
  /// How many positions the last of the levels stores: of a whole tensor where the levels begin with its first, else
  /// below no coordinates of the levels above more than this.
  using Counts = std::function<int64_t(const Levels&)>;

  /// Where blocks that are cut by weight begin, each of them, and where the last ends.
  using Cuts = std::function<const std::vector<int64_t>&(const WeightedBlocks&)>;

  /// How many positions of the whole tensor the last of the levels stores below coordinates of the first of them that come
  /// before one: the least and the most, where that is not known.
  using Before = std::function<Range(const Levels&, int64_t coordinate)>;

  /// Sizes must be known by now.
  explicit Bounds(const Provenance& provenance, Counts counts = {}, Cuts cuts = {}, Before before = {});

  /// How many values a variable has; where that changes with other variables, how many at most.
  int64_t size(const IndexVar& var) const;
  /// Empty where the values leave nothing of a variable. One that they say nothing about keeps all of its values, even where
  /// it was fused with another that has none: tensors that it indexes have them.
  Range of(const IndexVar& var, const LoopValues& values) const;
  /// Universe fusions of roots of which only a part is left, where that is less than the product of the roots' intervals.
  std::vector<FusedInterval> fused(const LoopValues& values) const;
  /// The blocks that the values leave of a variable that is cut by weight: their numbers, and its values in them.
  struct Blocks {
    Range numbers, values;
  };
  Blocks blocks(const IndexVar& var, const LoopValues& values) const;
  /// The positions below a block of coordinates, which the values tell: a part of a variable names it.
  Range positions_of_block(const IndexVar& part, const LoopValues& values) const;

 private:
  Range sizes(const IndexVar& var, const LoopValues& values = {}) const;
  bool is_bounded(const IndexVar& var, const LoopValues& values) const;
  Range interval(const IndexExpr& expr, const LoopValues& values) const;
  Blocks blocks(const BlockStart& block, const LoopValues& values) const;
  // Where the positions below the block begin, and where they end.
  struct Ends {
    Range begin, end;
  };
  Ends ends(const Levels& levels, const LoopValues& values) const;

  const Provenance& provenance_;
  Counts counts_;
  Cuts cuts_;
  Before before_;
};

}  // namespace spdistal::notation
