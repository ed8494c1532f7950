// Running a plan with a dense result: where pieces are computed, how they go home, and what is computed while operands are
// under way.
#include <algorithm>

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
bool BoundPlan::can_be_in_place(const Home& result) const {
  return writes_ && !tasks_->everywhere() && !by_steps() && !reads_result_ && program_.leaf.start == Start::Zero &&
         are_home_pieces(result, tasks_->grid(), colours(), targets_);
}

Storage& BoundPlan::place_of(Home& result, int64_t colour) {
  return *in_place_ ? result.piece(colour) : (*homecoming_)[colour];
}

// Collective.
void BoundPlan::prepare_homecoming(const Home& result) {
  if (*in_place_ || homecoming_) return;
  bool assigns = writes_ && program_.leaf.start == Start::Zero && !by_steps();
  runtime::together(transport_, [&] {
    homecoming_.emplace(transport_, program_.plan.accesses[0].tensor, home_region(program_.plan), result,
                        tasks_->grid(), colours(), targets_, assigns ? Arrival::Assign : Arrival::Add, operation_,
                        &notes_.traffic, moves());
  });
}

void BoundPlan::take_home(Home& result) {
  if (tasks_->everywhere()) homecoming_->keep_here(result);
  else homecoming_->run(result);
}

void BoundPlan::compute_dense(const Homes& operands, std::optional<Home>& result) {
  bool begun = program_.leaf.start == Start::Old;  // from what is there
  if (!result)
    result.emplace(
        pack(transport_, Coordinates(result_dims_, result_var().type()), result_var().format(), result_shares_));
  if (!in_place_) in_place_ = on_all_ranks(can_be_in_place(*result));
  std::optional<Home> old;  // what later steps read while earlier ones write
  Homes sources = operands;
  if (by_steps() && reads_result_) {
    old.emplace(result->clone(transport_));
    sources[result_var()] = &*old;
  }
  // What can be computed while data is under way is, chunk by chunk; all chunks add to zeros then.
  bool in_chunks = first_.over && overlaps();
  if (in_chunks) {
    for (int64_t c = colours().lo; c < colours().hi; c++) fill(place_of(*result, c), launcher_.device(c, colours()));
    launch_chunks(*result, When::Ready);
  }
  exchanging([&] { fetches_.finish(); });
  auto go_home = [&] {
    if (!begun) fill(*result);
    begun = true;
    take_home(*result);
  };
  for (size_t number = 0; number < tasks_->steps().size(); number++) {
    const StepValues& step = tasks_->steps()[number];
    exchanging([&] { fetches_.fetch(sources, step); });
    if (by_steps()) {
      plan_targets(step);
      homecoming_.reset();
    }
    prepare_homecoming(*result);
    fetch_ahead(sources, number);
    if (in_chunks) launch_chunks(*result, When::Others);
    else launch_step(*result, step, number == 0 || by_steps() ? Start::Zero : Start::Old);
    if (by_steps()) exchanging(go_home);
  }
  if (!by_steps() && !*in_place_) exchanging(go_home);
  result->changed();
}

// Has a colour nothing to do? Where there are no steps, its target says so.
bool BoundPlan::rests(int64_t colour, const StepValues& step) {
  return target(colour).idle || (!step.empty() && tasks_->is_idle(colour, step));
}

void BoundPlan::launch_step(Home& result, const StepValues& step, Start start) {
  bool in_chunks = steps_in_chunks();
  first_.together([&] {
    for (int64_t c = colours().lo; c < colours().hi; c++) {
      Storage& into = place_of(result, c);
      bool rest = rests(c, step);
      if (start == Start::Zero && (rest || in_chunks)) fill(into, launcher_.device(c, colours()));
      if (rest) continue;
      if (!in_chunks) timed(c, [&] { launcher_.compute_into(into, {c, step, start}); });
      for (int64_t chunk = 0; in_chunks && chunk < ChunkedLeaf::chunks; chunk++)
        launch_chunk(into, {c, step, Start::Old, chunk});
    }
  });
}

// ---- computing while data is under way ----

// What the step after this one has for itself is brought while this one computes.
void BoundPlan::fetch_ahead(const Homes& operands, size_t step) {
  if (step + 1 < tasks_->steps().size()) exchanging([&] { fetches_.fetch_ahead(operands, tasks_->steps()[step + 1]); });
}

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
    ready_ = chunked ? ready_chunks(program_, *chunked, *tasks_, fetches_.pieces(), transport_, process_.overlap_bytes)
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
