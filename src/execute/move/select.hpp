// Which elements each colour needs: the partition statements of a plan, run on the arrays of one piece of a sparse tensor (paper,
// section III.B), or on coordinates, which are all there is to know of a dense one. No rank looks at more than its own pieces.
#pragma once
#include <optional>
#include <vector>

#include "plan/plan.hpp"
#include "runtime/partition/partition.hpp"
#include "tensor/storage.hpp"

namespace spdistal {

/// What a colour needs of an access: coordinates along each dimension, and positions where the access is split.
struct Need {
  std::vector<runtime::Space> coordinates;
  std::optional<Range> positions = {};  // global, of the level of the split
};

/// The positions of the last level that store an element.
runtime::Space stored_positions(const Pattern& pattern);

/// What colours need of a piece, local to it.
struct Selected {
  runtime::Partition elements;                            // stored positions of the last level
  std::vector<std::optional<runtime::Partition>> levels;  // positions of each level; none: all that elements hang from
};
/// `base` is the global position of the piece's first position of the split level.
Selected select(const plan::AccessPlan& access, const Storage& piece, int64_t base, const runtime::ColourGrid& colours,
                const std::vector<Need>& needs);

/// What a colour needs of a dense tensor, or computes of a dense result: coordinates along each dimension, none at all where it
/// needs nothing.
std::vector<runtime::Space> select_coordinates(const plan::AccessPlan& access, const Need& need);

/// For tests: from now on, in all threads, the statements of this operator come to nothing; none do by default.
void set_emptied(std::optional<plan::Op> op);
bool is_emptied(plan::Op op);

/// The coordinates of a level that occur in a piece: those with a stored element below, of some positions of the last
/// level or of all.
runtime::Space occurring(const Storage& piece, size_t level);
runtime::Space occurring(const Storage& piece, size_t level, runtime::Space positions);
/// The coordinates at positions of a level.
runtime::Space coordinates_at(const Storage& piece, size_t level, const runtime::Space& positions);

}  // namespace spdistal
