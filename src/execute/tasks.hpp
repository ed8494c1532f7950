// The tasks of a plan, bound to data: the colours, and what each of them needs of every access and covers of the result.
#pragma once
#include <algorithm>
#include <map>
#include <optional>
#include <vector>

#include "compile/homes.hpp"
#include "execute/move/fetch.hpp"
#include "lower/distribute.hpp"
#include "lower/lower.hpp"
#include "notation/bounds.hpp"
#include "runtime/task/mapping.hpp"
#include "tensor/weights.hpp"

namespace spdistal {

/// The values of the loops that are not distributed, outermost first.
using StepValues = std::vector<int64_t>;

/// By access and dimension: does the leaf come to it only where other pieces store coordinates? A kernel of it tells, for
/// whatever widths it is.
using LocatedDims = std::vector<std::vector<bool>>;
LocatedDims find_located(const plan::Plan& plan, const lower::Lowered& kernel);

/// The values of a variable at these coordinates of the level that a set names.
runtime::Space values_of(const plan::Occurring& seen, const runtime::Space& coordinates);
/// Where values of a variable lead to, as far as that is within some coordinates.
runtime::Space coordinates_of(const plan::Gather& gather, const runtime::Space& values, const runtime::Space& within);

class Tasks {
 public:
  Tasks(const plan::Plan& plan, const Homes& operands, const Shares& result, runtime::Transport& transport,
        const LocatedDims& located);

  const runtime::ColourGrid& grid() const { return grid_; }
  Range colours() const { return colours_; }  // of this rank
  /// Every rank has all operands and computes all of the result for itself.
  bool everywhere() const { return everywhere_; }
  /// Is an access fetched, or the result taken home, in every step anew?
  bool by_steps(size_t access) const { return loops_of_steps(access) > 0; }
  const std::vector<StepValues>& steps() const { return steps_; }
  /// How many steps a loop has, and how many of the loops whose steps are taken an access is fetched inside of.
  int64_t step_count(size_t loop) const { return std::max<int64_t>(1, bounds_.size(plan_.loops[loop].var)); }
  size_t loops_of_steps(size_t access) const;
  /// The part of a step that tells one fetch of an access from another: the values of the loops that it is fetched inside of.
  StepValues step_of(size_t access, const StepValues& step) const;
  /// How many positions a level of a whole tensor stores.
  int64_t positions(const notation::Access& access, size_t level) const {
    return positions_.at({access.tensor, level});
  }
  /// How many the last of the levels stores: of a whole tensor, or below no coordinates of the levels above more than this.
  int64_t positions(const notation::Levels& levels) const;
  /// Where blocks that are cut by weight begin: found once for the patterns at hand.
  const Cuts& cuts(const notation::WeightedBlocks& blocks) const { return cuts_.at(blocks.var); }
  /// What is left of variables inside loops, of the plan or of chunks of its leaf.
  notation::Bounds bounds_of(const notation::Provenance& provenance) const;

  notation::LoopValues values(int64_t colour, const StepValues& step) const;
  /// Has a colour no iteration at all?
  bool is_idle(int64_t colour, const StepValues& step) const { return is_idle(values(colour, step)); }

  /// The pieces of accesses as they are there, by access: gathers read their patterns.
  using Pieces = std::vector<std::shared_ptr<Fetch>>;
  /// What a colour needs of an access, or touches of the result. Sets that are gathered are known for the colours of this
  /// rank only.
  Need need(size_t access, int64_t colour, const StepValues& step, const Pieces& pieces);
  /// Does what colours need of an access depend on loops alone, and not on what pieces of others store?
  bool stands_alone(size_t access) const;
  /// The positions that a colour has of an access that is split.
  Range split_positions(size_t access, int64_t colour) const;
  /// How many positions of the last level lie before a coordinate of the first: values that it may be, one where that is known,
  /// as where blocks of rows begin and end whose positions loops deal out.
  Range positions_before(const notation::Levels& levels, int64_t coordinate) const;
  /// What the dense levels of its piece must have places for: all that loops may come to, which is what occurs in a split
  /// piece where coordinates come from its positions.
  Ranges ranges(size_t access, int64_t colour, const StepValues& step, const Pieces& pieces);
  /// The coordinates that the array of a level of a colour's piece has, whatever is stored below them.
  runtime::Space stored(size_t access, size_t level, int64_t colour, const Pieces& pieces);
  /// The block of the result that a colour computes, as far as the loops tell.
  Share share_of_result(int64_t colour) const;
  /// Forgets what occurs in the piece of an access, which is another one from now on.
  void forget(size_t access);
  /// No two colours touch the same element of the result, as far as intervals tell: those of colours may overlap even
  /// where each element is computed by one of them.
  bool are_disjoint() const;

 private:
  void count_longest_rows(const Homes& operands);
  void cut_by_weight(const Homes& operands);
  void find_blocks_of_rows(const Homes& operands);
  bool everything_is_everywhere(const Homes& operands, const Shares& result) const;
  bool has_no_values(const IndexVar& var) const;
  bool is_idle(const notation::LoopValues& values) const;
  notation::LoopValues values_for(size_t access, int64_t colour, const StepValues& step) const;
  Range range(size_t access, size_t dim, const notation::LoopValues& values) const;
  Range positions_of(const plan::PositionSplit& split, const notation::LoopValues& values) const;
  bool comes_to_places(const plan::Occurring& coordinates) const;
  std::optional<Range> reach(size_t access, size_t dim, int64_t colour, const Pieces& pieces);
  std::optional<runtime::Space> evaluate(const plan::Set& set, int64_t colour, const Pieces& pieces);

  const plan::Plan& plan_;
  runtime::Transport& transport_;
  const LocatedDims& located_;
  std::map<std::pair<notation::TensorVar, size_t>, int64_t> positions_;
  std::map<std::tuple<notation::TensorVar, size_t, size_t>, int64_t> longest_;  // by levels whose rows loops count
  std::map<IndexVar, Cuts> cuts_;                                               // of variables that are cut by weight
  // By level: the positions before coordinates at which blocks of rows begin and end.
  std::map<std::pair<notation::TensorVar, size_t>, std::map<int64_t, int64_t>> before_;
  notation::Bounds bounds_;
  std::vector<size_t> distributed_, sequential_;  // which of the loops
  runtime::ColourGrid grid_;
  bool everywhere_ = false;
  Range colours_;
  std::vector<StepValues> steps_;
  std::map<std::pair<size_t, size_t>, std::vector<runtime::Space>> occurring_;  // by access and level, of this rank's
};

/// Which access of the plan one of a kernel is.
size_t number_of(const plan::Plan& plan, const notation::Access& access);

/// [lo, hi) as a set.
runtime::Space interval(const Range& range);

}  // namespace spdistal
