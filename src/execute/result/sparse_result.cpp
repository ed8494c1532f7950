#include "execute/result/sparse_result.hpp"

#include <algorithm>

#include "execute/move/numbers.hpp"
#include "execute/move/reduce_op.hpp"
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

SparseResult::SparseResult(Binding& binding) : binding_(binding), way_(choose_way()) {}

plan::Returns SparseResult::returns() const {
  if (binding_.tasks->everywhere()) return plan::Returns::Kept;
  if (way_ == Way::Moves) return plan::Returns::Merged;
  return way_ == Way::TakesOver ? plan::Returns::Joined : plan::Returns::Stays;
}

const Shares& SparseResult::home_shares() const {
  if (taken_over_) return taken_over_->shares();
  return settled_ ? *settled_ : binding_.shares;
}

// ---- a run ----

void SparseResult::begin(PlanRun& run) {
  found_.reset();
  pieces_.clear();
  stands_ = run.result && made_ == run.result->pattern_version();
  if (way_ != Way::Moves || (stands_ && moves_values())) return;
  found_.emplace(binding_.dims, binding_.result().type());
  found_->merge_by(reduce_op(binding_.operation));
}

void SparseResult::launch(PlanRun& run) {
  binding_.await_operands(run);
  binding_.fetch_ahead(run);
  if (found_) compute_elements(run);
  else if (stands_ && way_ != Way::Moves) compute_again(*run.result);
  else pieces_ = compute_pieces();
}

void SparseResult::take_home(PlanRun& run) {
  if (found_) {
    Home fresh = merged(std::move(*found_));
    if (stands_) take_values(*run.result, take_pieces(fresh));
    else keep(run.result, std::move(fresh));
  } else if (!stands_) {
    keep(run.result, leave_pieces(std::move(pieces_)));
  } else if (way_ == Way::Moves) {
    std::vector<Storage> made = std::move(pieces_);
    move_values(made, *run.result);
  } else {
    if (taken_over_) binding_.exchanging([&] { taken_over_->add_up(*run.result); });
    run.result->changed();
  }
}

// Does every colour compute all that it computes in one go, and nobody else the same?
bool SparseResult::at_once() const {
  return binding_.tasks->steps().size() == 1 && binding_.tasks->steps()[0].empty() && !binding_.tasks->everywhere();
}

// Once its elements were merged, do values of a result go where they went then?
bool SparseResult::moves_values() const { return at_once() && can_number(binding_.result().format(), binding_.dims); }

// Collective. A home of the pieces as they were computed.
Home SparseResult::leave_pieces(std::vector<Storage> made) {
  const Format& format = binding_.result().format();
  if (way_ == Way::TakesOver)
    taken_over_.emplace(binding_.transport, binding_.plan.accesses[0].tensor, home_region(binding_.plan),
                        ComputedPieces{format, binding_.dims, binding_.tasks->grid(), made}, binding_.operation,
                        &binding_.notes.traffic);
  Home out(binding_.transport, format, binding_.dims, binding_.result().type(), home_shares(), std::move(made));
  if (taken_over_) binding_.exchanging([&] { taken_over_->add_up(out); });
  return out;
}

// Collective. Values to where elements were merged before.
void SparseResult::move_values(std::vector<Storage>& made, Home& result) {
  binding_.exchanging([&] {
    if (!values_home_)
      values_home_.emplace(binding_.transport, binding_.plan.accesses[0].tensor, home_region(binding_.plan),
                           binding_.tasks->grid(), made, result, binding_.operation, &binding_.notes.traffic);
    values_home_->run(made, result, binding_.background);
  });
}

// The pieces of colours as they are computed, of a result that is not moved.
std::vector<Storage> SparseResult::compute_pieces() {
  std::vector<Storage> made;
  binding_.first.together([&] {
    for (int64_t c = binding_.colours().lo; c < binding_.colours().hi; c++)
      if (binding_.rests(c, {}))
        made.push_back(pack(Coordinates(binding_.dims, binding_.result().type()), binding_.result().format(),
                            binding_.target(c).ranges));
      else binding_.timed(c, [&] { made.push_back(binding_.launcher.compute(binding_.target(c).ranges, {c, {}})); });
  });
  return made;
}

// Values alone, into the memory of the last run. A kernel that does not find their places makes the pattern again.
void SparseResult::compute_again(Home& result) {
  binding_.first.together([&] {
    for (int64_t c = binding_.colours().lo; c < binding_.colours().hi; c++) {
      if (binding_.rests(c, {})) continue;
      Storage& piece = result.piece(c);
      LeafRun again{.colour = c, .step = no_step, .pattern = lower::ResultPattern::Stands};
      if (binding_.shared) binding_.timed(c, [&] { binding_.launcher.compute_into(piece, {c, no_step}); });
      else if (binding_.launcher.keeps(piece, again))
        binding_.timed(c, [&] { binding_.launcher.compute_into(piece, again); });
      else
        binding_.timed(c, [&] {
          take_values(piece, binding_.launcher.compute(binding_.target(c).ranges, {c, no_step}));
        });
    }
  });
}

// What colours have computed, to be merged where it lives.
void SparseResult::compute_elements(const PlanRun& run) {
  binding_.first.together([&] {
    for (int64_t c = binding_.colours().lo; c < binding_.colours().hi; c++) {
      if (binding_.tasks->is_idle(c, run.step)) continue;
      binding_.timed(c, [&] {
        Storage piece = binding_.launcher.compute(binding_.target(c).ranges, {c, run.step});
        binding_.notes.packed[size_t(c - binding_.colours().lo)] += piece.nnz() * int64_t(size_of(piece.type()));
        found_->append(unpack(piece));
      });
      binding_.fetches.poll();
    }
  });
}

// Collective.
Home SparseResult::merged(Coordinates elements) {
  const Format& format = binding_.result().format();
  std::optional<Home> out;
  binding_.exchanging([&] {
    runtime::Sending results(binding_.transport.sent(), binding_.plan.accesses[0].tensor, runtime::Cargo::Results);
    out = binding_.tasks->everywhere() ? scatter(binding_.transport, pack(std::move(elements), format), binding_.shares)
                                       : pack(binding_.transport, std::move(elements), format, binding_.shares);
  });
  return std::move(*out);
}

// Collective. Where the result stores what it stored before, it keeps its patterns: who reads it need not look again.
void SparseResult::keep(std::optional<Home>& result, Home fresh) {
  if (binding_.on_all_ranks(result && same_patterns(*result, fresh))) take_values(*result, take_pieces(fresh));
  else result = std::move(fresh);
  made_ = result->pattern_version();
}

}  // namespace spdistal
