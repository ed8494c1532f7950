// Running a plan with a dense result: where pieces are computed, how they go home, and what is computed while operands are
// under way.
#include <algorithm>

#include "base/require.hpp"
#include "execute/bound_plan.hpp"
#include "notation/arithmetic.hpp"
#include "tensor/distribute.hpp"

namespace spdistal {

using namespace notation;
using runtime::Arrival;

// Where it is computed, added to or read next, as far as is known.
void BoundPlan::fill(Storage& piece, const DevicePlace& device) {
  if (device) View(piece, device).fill(background_);
  else piece.fill(background_);
}
void BoundPlan::fill(Home& result) {
  for (int64_t q = result.colours().lo; q < result.colours().hi; q++)
    fill(result.piece(q), launcher_.device(q, result.colours()));
}

// Colours share nothing, nobody else holds copies, and nothing of the old result is read.
bool BoundPlan::can_be_in_place() const {
  return writes_ && !tasks_->everywhere() && !by_steps() && !reads_result_ && plan_.leaf.start == Start::Zero &&
         are_home_pieces(result_shares_, tasks_->grid(), colours(), targets_);
}
bool BoundPlan::assigns() const { return writes_ && plan_.leaf.start == Start::Zero && !by_steps(); }

Storage& BoundPlan::place_of(Home& result, int64_t colour) {
  return in_place_ ? result.piece(colour) : (*homecoming_)[colour];
}

// Collective.
void BoundPlan::prepare_homecoming(const Home& result) {
  if (in_place_ || homecoming_) return;
  runtime::together(transport_, [&] {
    homecoming_.emplace(transport_, plan_.accesses[0].tensor, home_region(plan_), result, tasks_->grid(), colours(),
                        targets_, assigns() ? Arrival::Assign : Arrival::Add, operation_, &notes_.traffic, moves());
  });
}

void BoundPlan::begin_dense(PlanRun& run) {
  if (!run.result)
    run.result.emplace(
        pack(transport_, Coordinates(result_dims_, result_var().type()), result_var().format(), result_shares_));
  if (!first_.over) in_place_ = in_place_ && run.result->shares() == result_shares_;
  run.begun = plan_.leaf.start == Start::Old;  // from what is there
  if (by_steps() && reads_result_) run.before.emplace(run.result->clone(transport_));
}

// What can be computed while data is under way is, chunk by chunk; all chunks add to zeros then.
void BoundPlan::launch_dense(PlanRun& run) {
  Home& result = *run.result;
  prepare_homecoming(result);
  bool in_chunks = first_.over && run.step.empty() && overlaps();
  if (in_chunks) {
    for (int64_t c = colours().lo; c < colours().hi; c++) fill(place_of(result, c), launcher_.device(c, colours()));
    launch_chunks(result, When::Ready);
  }
  if (run.step.empty()) exchanging([&] { fetches_.finish(); });
  fetch_ahead(run);
  if (in_chunks) launch_chunks(result, When::Others);
  else launch_step(run);
  run.start = Start::Old;
}

void BoundPlan::take_home_dense(PlanRun& run) {
  Home& result = *run.result;
  require(in_place_ || homecoming_, "what goes home was computed");
  if (!in_place_)
    exchanging([&] {
      if (!run.begun) fill(result);
      if (tasks_->everywhere()) homecoming_->keep_here(result);
      else homecoming_->run(result);
    });
  run.begun = true;
  result.changed();
}

// Has a colour nothing to do? Where there are no steps, its target says so.
bool BoundPlan::rests(int64_t colour, const StepValues& step) {
  return target(colour).idle || (!step.empty() && tasks_->is_idle(colour, step));
}

void BoundPlan::launch_step(PlanRun& run) {
  bool in_chunks = steps_in_chunks();
  first_.together([&] {
    for (int64_t c = colours().lo; c < colours().hi; c++) {
      Storage& into = place_of(*run.result, c);
      bool rest = rests(c, run.step);
      if (run.start == Start::Zero && (rest || in_chunks)) fill(into, launcher_.device(c, colours()));
      if (rest) continue;
      if (!in_chunks) timed(c, [&] { launcher_.compute_into(into, {c, run.step, run.start}); });
      for (int64_t chunk = 0; in_chunks && chunk < ChunkedLeaf::chunks; chunk++)
        launch_chunk(into, {c, run.step, Start::Old, chunk});
    }
  });
}

// ---- computing while data is under way ----

// Do messages move on between chunks? In first runs there is enough to compile.
bool BoundPlan::steps_in_chunks() {
  if (!first_.over || !compiled_.chunked()) return false;
  int64_t bytes = fetches_.bytes_under_way();
  return bytes > 0 && bytes >= process_.overlap_bytes && launcher_.takes_numbers({colours().lo, {}, Start::Old, 0});
}

void BoundPlan::launch_chunk(Storage& into, const Turn& turn) {
  timed(turn.colour, [&] { launcher_.compute_into(into, turn); });
  if (!fetches_.are_under_way()) return;
  notes_.overlapped++;
  fetches_.poll();
}

// Collective the first time: whether there are chunks, and their kernels, which ranks have for themselves.
void BoundPlan::find_chunks() {
  runtime::together(transport_, [&] {
    const std::optional<ChunkedLeaf>& chunked = compiled_.chunked();
    ready_ = chunked ? ready_chunks(plan_, *chunked, *tasks_, fetches_.pieces(), transport_, process_.overlap_bytes)
                     : ReadyChunks();
    if (!ready_->empty() && !launcher_.takes_numbers({colours().lo, {}, Start::Old, 0})) ready_ = ReadyChunks();
    for (size_t k = 0; k < ready_->size(); k++)
      if (int64_t c = colours().lo + int64_t(k); !tasks_->is_idle(c, {})) launcher_.code_for({c, {}, Start::Old, 0});
  });
}

// Is anything under way, and anything to do meanwhile?
bool BoundPlan::overlaps() {
  if (!ready_) find_chunks();
  return !ready_->empty() && fetches_.are_under_way();
}

void BoundPlan::launch_chunks(Home& result, When when) {
  for (int64_t c = colours().lo; c < colours().hi; c++) {
    if (rests(c, {})) continue;
    Storage& into = place_of(result, c);
    for (int64_t chunk = 0; chunk < ChunkedLeaf::chunks; chunk++) {
      if ((*ready_)[size_t(c - colours().lo)][size_t(chunk)] != (when == When::Ready)) continue;
      launch_chunk(into, {c, {}, Start::Old, chunk});
    }
  }
}

}  // namespace spdistal
