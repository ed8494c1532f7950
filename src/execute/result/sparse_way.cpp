// Where the pieces of a sparse result end up.
#include <algorithm>

#include "execute/move/numbers.hpp"
#include "execute/result/sparse_result.hpp"
#include "format/questions.hpp"

namespace spdistal {

using namespace notation;

// Collective.
SparseResult::Way SparseResult::choose_way() {
  if (!at_once()) return Way::Moves;
  if (binding_.writes && matches(binding_.shares) && !cuts_dense_rows(binding_.shares)) return Way::Stays;
  if (binding_.writes && binding_.compiled.residence == Residence::Anywhere && is_cut_by_weight() &&
      dense_rows().empty()) {
    Shares computed{binding_.tasks->grid(), {}};
    for (int64_t c = 0; c < binding_.tasks->grid().count(); c++)
      computed.of.push_back(binding_.tasks->share_of_result(c));
    if (matches(computed)) return settled_ = std::move(computed), Way::Settles;
  }
  if (!binding_.shared || binding_.plan.leaf.start != Start::Zero ||
      !can_number(binding_.result().format(), binding_.dims))
    return Way::Moves;
  if (!follows_operand()) return Way::Moves;
  if (matches_positions()) return Way::Stays;
  return binding_.compiled.residence == Residence::Anywhere ? Way::TakesOver : Way::Moves;
}

// The dimensions of dense levels below sparse ones. What is stored there depends on all of the pieces that a row is cut into.
std::vector<size_t> SparseResult::dense_rows() const {
  std::vector<size_t> out;
  const Format& format = binding_.result().format();
  bool sparse = false;
  for (size_t k = 0; k < format.order(); k++) {
    bool all = stores_all(format.levels()[k]);
    if (sparse && all) out.push_back(size_t(format.mode_order()[k]));
    sparse |= !all;
  }
  return out;
}

// Do shares cut such rows, so that one colour has places that another one tells of?
bool SparseResult::cuts_dense_rows(const Shares& shares) const {
  std::vector<size_t> dims = dense_rows();
  return std::any_of(shares.of.begin(), shares.of.end(), [&](const Share& share) {
    return std::any_of(dims.begin(), dims.end(),
                       [&](size_t d) { return share.coordinates[d] != runtime::Space::interval(0, binding_.dims[d]); });
  });
}

// Are blocks of the result as large as what is stored says? No home that is known before that is like it.
bool SparseResult::is_cut_by_weight() const {
  const std::vector<Relation>& relations = binding_.plan.leaf.provenance.relations;
  return std::any_of(relations.begin(), relations.end(), [&](const Relation& relation) {
    return relation.block() &&
           std::any_of(binding_.plan.loops.begin(), binding_.plan.loops.end(), [&](const plan::Loop& loop) {
             return binding_.plan.leaf.provenance.bounded_by(relation.block()->blocks.var, loop.var);
           });
  });
}

// Collective. Are the pieces that colours compute just those of a home with these shares?
bool SparseResult::matches(const Shares& shares) {
  bool same = shares.grid.count() == binding_.tasks->grid().count();
  for (int64_t c = binding_.colours().lo; c < binding_.colours().hi && same; c++) {
    const Share& share = shares.of[size_t(c)];
    same = share.fused.empty() && share.positions.empty();
    for (size_t d = 0; d < share.coordinates.size() && same; d++)
      same = share.coordinates[d] == interval(binding_.target(c).ranges[d]);
  }
  return binding_.on_all_ranks(same);
}

// Do colours, one after the other, have positions of the operand that the result has the pattern of?
bool SparseResult::follows_operand() const {
  if (!binding_.plan.accesses[binding_.shared->access].split) return false;
  int64_t next = 0;
  for (int64_t c = 0; c < binding_.tasks->grid().count(); c++) {
    if (binding_.tasks->is_idle(c, {})) continue;
    Range mine = binding_.tasks->split_positions(binding_.shared->access, c);
    if (mine.lo < next) return false;
    next = mine.hi;
  }
  return true;
}

// Are those just the positions of the result's home? They may be counted row block by row block.
bool SparseResult::matches_positions() const {
  const plan::AccessPlan& operand = binding_.plan.accesses[binding_.shared->access];
  size_t last = binding_.result().order() - 1, first = size_t(binding_.result().format().mode_order()[0]);
  if (operand.access.tensor.order() != binding_.result().order() || operand.split->level != last) return false;
  int64_t count = binding_.tasks->grid().count();
  if (binding_.shares.grid.count() != count) return false;
  // Known where loops deal out the positions of these rows.
  auto positions = [&](const std::optional<Range>& rows) -> std::optional<Range> {
    if (!rows) return Range{0, binding_.tasks->positions(operand.access, last)};
    Range from = binding_.tasks->positions_before(operand.split->levels, rows->lo);
    Range to = binding_.tasks->positions_before(operand.split->levels, rows->hi);
    return from.size() == 1 && to.size() == 1 ? std::optional(Range{from.lo, to.lo}) : std::nullopt;
  };
  for (int64_t c = 0; c < count; c++) {
    const Share& share = binding_.shares.of[size_t(c)];
    Range mine =
        binding_.tasks->is_idle(c, {}) ? Range{0, 0} : binding_.tasks->split_positions(binding_.shared->access, c);
    const std::vector<PositionBlock>& blocks = share.positions;
    if (blocks.size() != 1 || blocks[0].level != last) return false;
    if (holds_nothing(share, binding_.dims) && mine.size() <= 0) continue;
    Share wanted = whole_share(binding_.dims);
    wanted.positions = blocks;
    if (const std::optional<Range>& rows = blocks[0].rows) wanted.coordinates[first] = interval(*rows);
    std::optional<Range> all = positions(blocks[0].rows);
    if (!all || share != wanted) return false;
    Range home = blocks[0].of(*all);
    if (!(mine == home || (mine.size() <= 0 && home.size() <= 0))) return false;
  }
  return true;
}

}  // namespace spdistal
