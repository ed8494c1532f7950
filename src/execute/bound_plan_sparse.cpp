// Running a plan with a sparse result: pieces are assembled, and stay where they are or are merged by coordinate at their
// owners. What a result stores depends on what its operands store and on nothing else: while these patterns stand, runs after
// the first compute values.
#include <algorithm>

#include "execute/bound_plan.hpp"
#include "execute/move/numbers.hpp"
#include "execute/move/reduce_op.hpp"
#include "format/questions.hpp"
#include "tensor/distribute.hpp"
#include "tensor/pack.hpp"

namespace spdistal {

using namespace notation;

namespace {

const StepValues no_step;

void take_values(Storage& piece, Storage made) {
  ScalarType type = made.type();
  piece = Storage(piece.shared_pattern(), type, std::move(made).take_values());
}

void take_values(Home& home, std::vector<Storage> made) {
  for (size_t k = 0; k < made.size(); k++) take_values(home.piece(home.colours().lo + int64_t(k)), std::move(made[k]));
  home.changed();
}

std::vector<Storage> take_pieces(Home& home) {
  std::vector<Storage> out;
  for (int64_t c = home.colours().lo; c < home.colours().hi; c++) out.push_back(std::move(home.piece(c)));
  return out;
}

// Local. Do all pieces here store the same?
bool same_patterns(const Home& a, const Home& b) {
  bool same = a.shares() == b.shares();
  for (int64_t c = a.colours().lo; c < a.colours().hi && same; c++)
    same = same_pattern(a.piece(c).pattern(), b.piece(c).pattern());
  return same;
}

}  // namespace

void BoundPlan::begin_sparse(PlanRun& run) {
  run.stands = run.result && made_ == run.result->pattern_version();
  if (way_ != Way::Moves || (run.stands && moves_values())) return;
  run.found.emplace(result_dims_, result_var().type());
  run.found->merge_by(reduce_op(operation_));
}

void BoundPlan::launch_sparse(PlanRun& run) {
  if (run.step.empty()) exchanging([&] { fetches_.finish(); });
  fetch_ahead(run);
  if (run.found) compute_elements(run);
  else if (run.stands && way_ != Way::Moves) compute_again(*run.result);
  else run.made = compute_pieces();
}

void BoundPlan::take_home_sparse(PlanRun& run) {
  if (run.found) {
    Home fresh = merged(std::move(*run.found));
    if (run.stands) take_values(*run.result, take_pieces(fresh));
    else keep(run.result, std::move(fresh));
  } else if (!run.stands) {
    keep(run.result, leave_pieces(std::move(run.made)));
  } else if (way_ == Way::Moves) {
    move_values(run.made, *run.result);
  } else {
    if (taken_over_) exchanging([&] { taken_over_->add_up(*run.result); });
    run.result->changed();
  }
}

// Does every colour compute all that it computes in one go, and nobody else the same?
bool BoundPlan::at_once() const {
  return tasks_->steps().size() == 1 && tasks_->steps()[0].empty() && !tasks_->everywhere();
}

// Once its elements were merged, do values of a result go where they went then?
bool BoundPlan::moves_values() const { return at_once() && can_number(result_var().format(), result_dims_); }

// Collective. A home of the pieces as they were computed.
Home BoundPlan::leave_pieces(std::vector<Storage> made) {
  const Format& format = result_var().format();
  if (way_ == Way::TakesOver)
    taken_over_.emplace(transport_, plan_.accesses[0].tensor, home_region(plan_),
                        ComputedPieces{format, result_dims_, tasks_->grid(), made}, operation_, &notes_.traffic);
  Home out(transport_, format, result_dims_, result_var().type(), home_shares(), std::move(made));
  if (taken_over_) exchanging([&] { taken_over_->add_up(out); });
  return out;
}

// Collective. Values to where elements were merged before.
void BoundPlan::move_values(std::vector<Storage>& made, Home& result) {
  exchanging([&] {
    if (!values_home_)
      values_home_.emplace(transport_, plan_.accesses[0].tensor, home_region(plan_), tasks_->grid(), made, result,
                           operation_, &notes_.traffic);
    values_home_->run(made, result, background_);
  });
}

// The pieces of colours as they are computed, of a result that is not moved.
std::vector<Storage> BoundPlan::compute_pieces() {
  std::vector<Storage> made;
  first_.together([&] {
    for (int64_t c = colours().lo; c < colours().hi; c++)
      if (rests(c, {}))
        made.push_back(pack(Coordinates(result_dims_, result_var().type()), result_var().format(), target(c).ranges));
      else timed(c, [&] { made.push_back(launcher_.compute(target(c).ranges, {c, {}})); });
  });
  return made;
}

// Values alone, into the memory of the last run. A kernel that does not find their places makes the pattern again.
void BoundPlan::compute_again(Home& result) {
  first_.together([&] {
    for (int64_t c = colours().lo; c < colours().hi; c++) {
      if (rests(c, {})) continue;
      Storage& piece = result.piece(c);
      Turn again{.colour = c, .step = no_step, .pattern = lower::ResultPattern::Stands};
      if (shared_) timed(c, [&] { launcher_.compute_into(piece, {c, no_step}); });
      else if (launcher_.keeps(piece, again)) timed(c, [&] { launcher_.compute_into(piece, again); });
      else timed(c, [&] { take_values(piece, launcher_.compute(target(c).ranges, {c, no_step})); });
    }
  });
}

// What colours have computed, to be merged where it lives.
void BoundPlan::compute_elements(PlanRun& run) {
  first_.together([&] {
    for (int64_t c = colours().lo; c < colours().hi; c++) {
      if (tasks_->is_idle(c, run.step)) continue;
      timed(c, [&] {
        Storage piece = launcher_.compute(target(c).ranges, {c, run.step});
        notes_.packed[size_t(c - colours().lo)] += piece.nnz() * int64_t(size_of(piece.type()));
        run.found->append(unpack(piece));
      });
      fetches_.poll();
    }
  });
}

// Collective.
Home BoundPlan::merged(Coordinates elements) {
  const Format& format = result_var().format();
  std::optional<Home> out;
  exchanging([&] {
    runtime::Sending results(transport_.sent(), plan_.accesses[0].tensor, runtime::Cargo::Results);
    out = tasks_->everywhere() ? scatter(transport_, pack(std::move(elements), format), result_shares_)
                               : pack(transport_, std::move(elements), format, result_shares_);
  });
  return std::move(*out);
}

// Collective. Where the result stores what it stored before, it keeps its patterns: who reads it need not look again.
void BoundPlan::keep(std::optional<Home>& result, Home fresh) {
  if (on_all_ranks(result && same_patterns(*result, fresh))) take_values(*result, take_pieces(fresh));
  else result = std::move(fresh);
  made_ = result->pattern_version();
}

// ---- where pieces end up ----

// Collective.
BoundPlan::Way BoundPlan::choose_way() {
  if (!at_once()) return Way::Moves;
  if (writes_ && matches(result_shares_) && !cuts_dense_rows(result_shares_)) return Way::Stays;
  if (writes_ && compiled_.residence == Residence::Anywhere && is_cut_by_weight() && dense_rows().empty()) {
    Shares computed{tasks_->grid(), {}};
    for (int64_t c = 0; c < tasks_->grid().count(); c++) computed.of.push_back(tasks_->share_of_result(c));
    if (matches(computed)) return settled_ = std::move(computed), Way::Settles;
  }
  if (!shared_ || plan_.leaf.start != Start::Zero || !can_number(result_var().format(), result_dims_))
    return Way::Moves;
  if (!follows_operand()) return Way::Moves;
  if (matches_positions()) return Way::Stays;
  return compiled_.residence == Residence::Anywhere ? Way::TakesOver : Way::Moves;
}

const Shares& BoundPlan::home_shares() const {
  if (taken_over_) return taken_over_->shares();
  return settled_ ? *settled_ : result_shares_;
}

// The dimensions of dense levels below sparse ones. What is stored there depends on all of the pieces that a row is cut into.
std::vector<size_t> BoundPlan::dense_rows() const {
  std::vector<size_t> out;
  const Format& format = result_var().format();
  bool sparse = false;
  for (size_t k = 0; k < format.order(); k++) {
    bool all = stores_all(format.levels()[k]);
    if (sparse && all) out.push_back(size_t(format.mode_order()[k]));
    sparse |= !all;
  }
  return out;
}

// Do shares cut such rows, so that one colour has places that another one tells of?
bool BoundPlan::cuts_dense_rows(const Shares& shares) const {
  std::vector<size_t> dims = dense_rows();
  return std::any_of(shares.of.begin(), shares.of.end(), [&](const Share& share) {
    return std::any_of(dims.begin(), dims.end(),
                       [&](size_t d) { return share.coordinates[d] != runtime::Space::interval(0, result_dims_[d]); });
  });
}

// Are blocks of the result as large as what is stored says? No home that is known before that is like it.
bool BoundPlan::is_cut_by_weight() const {
  const std::vector<Relation>& relations = plan_.leaf.provenance.relations;
  return std::any_of(relations.begin(), relations.end(), [&](const Relation& relation) {
    return relation.block() && std::any_of(plan_.loops.begin(), plan_.loops.end(), [&](const plan::Loop& loop) {
             return plan_.leaf.provenance.bounded_by(relation.block()->blocks.var, loop.var);
           });
  });
}

// Collective. Are the pieces that colours compute just those of a home with these shares?
bool BoundPlan::matches(const Shares& shares) {
  bool same = shares.grid.count() == tasks_->grid().count();
  for (int64_t c = colours().lo; c < colours().hi && same; c++) {
    const Share& share = shares.of[size_t(c)];
    same = share.fused.empty() && share.positions.empty();
    for (size_t d = 0; d < share.coordinates.size() && same; d++)
      same = share.coordinates[d] == interval(target(c).ranges[d]);
  }
  return on_all_ranks(same);
}

// Do colours, one after the other, have positions of the operand that the result has the pattern of?
bool BoundPlan::follows_operand() const {
  if (!plan_.accesses[shared_->access].split) return false;
  int64_t next = 0;
  for (int64_t c = 0; c < tasks_->grid().count(); c++) {
    if (tasks_->is_idle(c, {})) continue;
    Range mine = tasks_->split_positions(shared_->access, c);
    if (mine.lo < next) return false;
    next = mine.hi;
  }
  return true;
}

// Are those just the positions of the result's home? They may be counted row block by row block.
bool BoundPlan::matches_positions() const {
  const plan::AccessPlan& operand = plan_.accesses[shared_->access];
  size_t last = result_var().order() - 1, first = size_t(result_var().format().mode_order()[0]);
  if (operand.access.tensor.order() != result_var().order() || operand.split->level != last) return false;
  int64_t count = tasks_->grid().count();
  if (result_shares_.grid.count() != count) return false;
  // Known where loops deal out the positions of these rows.
  auto positions = [&](const std::optional<Range>& rows) -> std::optional<Range> {
    if (!rows) return Range{0, tasks_->positions(operand.access, last)};
    Range from = tasks_->positions_before(operand.split->levels, rows->lo);
    Range to = tasks_->positions_before(operand.split->levels, rows->hi);
    return from.size() == 1 && to.size() == 1 ? std::optional(Range{from.lo, to.lo}) : std::nullopt;
  };
  for (int64_t c = 0; c < count; c++) {
    const Share& share = result_shares_.of[size_t(c)];
    Range mine = tasks_->is_idle(c, {}) ? Range{0, 0} : tasks_->split_positions(shared_->access, c);
    const std::vector<PositionBlock>& blocks = share.positions;
    if (blocks.size() != 1 || blocks[0].level != last) return false;
    if (holds_nothing(share, result_dims_) && mine.size() <= 0) continue;
    Share wanted = whole_share(result_dims_);
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
