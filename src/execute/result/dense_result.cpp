#include "execute/result/dense_result.hpp"

#include <algorithm>

#include "base/require.hpp"
#include "tensor/distribute.hpp"

namespace spdistal {

using namespace notation;
using runtime::Arrival;

DenseResult::DenseResult(Binding& binding) : binding_(binding), in_place_(binding.on_all_ranks(can_be_in_place())) {}

// Colours share nothing, nobody else holds copies, and nothing of the old result is read.
bool DenseResult::can_be_in_place() const {
  return binding_.writes && !binding_.tasks->everywhere() && !binding_.by_steps() && !binding_.reads_result &&
         binding_.plan.leaf.start == Start::Zero &&
         are_home_pieces(binding_.shares, binding_.tasks->grid(), binding_.colours(), binding_.targets);
}

bool DenseResult::assigns() const {
  return binding_.writes && binding_.plan.leaf.start == Start::Zero && !binding_.by_steps();
}

plan::Returns DenseResult::returns() const {
  if (binding_.tasks->everywhere()) return plan::Returns::Kept;
  if (in_place_) return plan::Returns::InPlace;
  return assigns() ? plan::Returns::Assigned : plan::Returns::AddedUp;
}

Storage& DenseResult::place_of(Home& result, int64_t colour) {
  return in_place_ ? result.piece(colour) : (*homecoming_)[colour];
}

// Where it is computed, added to or read next, as far as is known.
void DenseResult::fill(Storage& piece, const DevicePlace& device) {
  if (device) View(piece, device).fill(binding_.background);
  else piece.fill(binding_.background);
}
// What is not computed there.
void DenseResult::fill(Home& result) {
  for (int64_t q = result.colours().lo; q < result.colours().hi; q++) {
    if (!homecoming_->is_around_home(q)) fill(result.piece(q), binding_.launcher.device(q, result.colours()));
    else
      for (Storage& rest : homecoming_->not_computed(result, q)) fill(rest, {});
  }
}

// ---- a run ----

void DenseResult::begin(PlanRun& run) {
  const TensorVar& result = binding_.result();
  if (!run.result)
    run.result.emplace(
        pack(binding_.transport, Coordinates(binding_.dims, result.type()), result.format(), binding_.shares));
  if (!binding_.first.over) in_place_ = in_place_ && run.result->shares() == binding_.shares;
  start_ = Start::Zero;
  begun_ = binding_.plan.leaf.start == Start::Old;  // from what is there
  if (binding_.by_steps() && binding_.reads_result) run.before.emplace(run.result->clone(binding_.transport));
}

void DenseResult::enter_step() {
  homecoming_.reset();
  start_ = Start::Zero;
}

// Nothing of the old result is read.
bool DenseResult::can_be_around_home() const {
  return !binding_.tasks->everywhere() && !binding_.by_steps() && !binding_.reads_result &&
         binding_.plan.leaf.start == Start::Zero;
}

// Collective. Pieces that lie around those of a home are made for its pattern.
void DenseResult::prepare_homecoming(Home& result) {
  if (in_place_) return;
  if (around_home_ && homecoming_->home_pattern() != result.pattern_version()) homecoming_.reset();
  if (homecoming_) return homecoming_->prepare(result);
  runtime::together(binding_.transport, [&] {
    homecoming_.emplace(binding_.transport, binding_.plan.accesses[0].tensor, home_region(binding_.plan), result,
                        binding_.tasks->grid(), binding_.colours(), binding_.targets,
                        assigns() ? Arrival::Assign : Arrival::Add, binding_.operation,
                        can_be_around_home() ? PiecePlace::AroundHome : PiecePlace::Apart, &binding_.notes.traffic,
                        binding_.moves());
    homecoming_->prepare(result);
  });
  around_home_ = can_be_around_home() && !binding_.on_all_ranks(!homecoming_->is_around_home());
}

// What can be computed while data is under way is, chunk by chunk; all chunks add to zeros then.
void DenseResult::launch(PlanRun& run) {
  Home& result = *run.result;
  prepare_homecoming(result);
  bool in_chunks = binding_.first.over && run.step.empty() && overlaps();
  if (in_chunks) {
    for (int64_t c = binding_.colours().lo; c < binding_.colours().hi; c++) fill(place_of(result, c), device(c));
    launch_chunks(result, When::Ready);
  }
  binding_.await_operands(run);
  binding_.fetch_ahead(run);
  if (in_chunks) launch_chunks(result, When::Others);
  else launch_all(run);
  start_ = Start::Old;
}

void DenseResult::take_home(PlanRun& run) {
  Home& result = *run.result;
  require(in_place_ || homecoming_, "what goes home was computed");
  if (!in_place_)
    binding_.exchanging([&] {
      if (!begun_) fill(result);
      if (binding_.tasks->everywhere()) homecoming_->keep_here(result);
      else homecoming_->run(result);
    });
  begun_ = true;
  result.changed();
}

void DenseResult::launch_all(PlanRun& run) {
  bool in_chunks = has_chunks_to_poll();
  binding_.first.together([&] {
    for (int64_t c = binding_.colours().lo; c < binding_.colours().hi; c++) {
      Storage& into = place_of(*run.result, c);
      bool rests = binding_.rests(c, run.step);
      if (start_ == Start::Zero && (rests || in_chunks)) fill(into, device(c));
      if (rests) continue;
      if (!in_chunks) binding_.timed(c, [&] { binding_.launcher.compute_into(into, {c, run.step, start_}); });
      for (int64_t chunk = 0; in_chunks && chunk < ChunkedLeaf::chunks; chunk++)
        launch_chunk(into, {c, run.step, Start::Old, chunk});
    }
  });
}

// ---- computing while data is under way ----

// Do messages move on between chunks? In first runs there is enough to compile.
bool DenseResult::has_chunks_to_poll() {
  if (!binding_.first.over || !binding_.compiled.chunked()) return false;
  int64_t bytes = binding_.fetches.bytes_under_way();
  return bytes > 0 && bytes >= binding_.process.overlap_bytes &&
         binding_.launcher.takes_numbers({binding_.colours().lo, {}, Start::Old, 0});
}

void DenseResult::launch_chunk(Storage& into, const LeafRun& wanted) {
  binding_.timed(wanted.colour, [&] { binding_.launcher.compute_into(into, wanted); });
  if (!binding_.fetches.are_under_way()) return;
  binding_.notes.overlapped++;
  binding_.fetches.poll();
}

// Collective the first time: whether there are chunks, and their kernels, which ranks have for themselves.
void DenseResult::find_chunks() {
  runtime::together(binding_.transport, [&] {
    const std::optional<ChunkedLeaf>& chunked = binding_.compiled.chunked();
    ready_ = chunked ? ready_chunks(binding_.plan, *chunked, *binding_.tasks, binding_.fetches.pieces(),
                                    binding_.transport, binding_.process.overlap_bytes)
                     : ReadyChunks();
    Launcher& launcher = binding_.launcher;
    int64_t first = binding_.colours().lo;
    if (!ready_->empty() && !launcher.takes_numbers({first, {}, Start::Old, 0})) ready_ = ReadyChunks();
    for (size_t k = 0; k < ready_->size(); k++)
      if (int64_t c = first + int64_t(k); !binding_.tasks->is_idle(c, {})) launcher.code_for({c, {}, Start::Old, 0});
  });
}

// Is anything under way, and anything to do meanwhile?
bool DenseResult::overlaps() {
  if (!ready_) find_chunks();
  return !ready_->empty() && binding_.fetches.are_under_way();
}

void DenseResult::launch_chunks(Home& result, When when) {
  for (int64_t c = binding_.colours().lo; c < binding_.colours().hi; c++) {
    if (binding_.rests(c, {})) continue;
    Storage& into = place_of(result, c);
    for (int64_t chunk = 0; chunk < ChunkedLeaf::chunks; chunk++) {
      if ((*ready_)[size_t(c - binding_.colours().lo)][size_t(chunk)] != (when == When::Ready)) continue;
      launch_chunk(into, {c, {}, Start::Old, chunk});
    }
  }
}

}  // namespace spdistal
