#include "execute/bound_plan.hpp"

#include <algorithm>

#include "execute/move/device_moves.hpp"
#include "notation/presence.hpp"

namespace spdistal {

using namespace notation;

BoundPlan::BoundPlan(Process& process, Compiled& compiled, Shares shares)
    : process_(process),
      transport_(process.transport()),
      compiled_(compiled),
      plan_(compiled.plan()),
      result_shares_(std::move(shares)),
      result_dims_(known_dims(plan_.leaf.result)),
      operation_(operation_of(plan_.leaf)),
      background_(background_of(plan_.leaf)),
      first_{transport_},
      fetches_(transport_, plan_, first_, notes_),
      launcher_(process, compiled, fetches_, notes_) {
  for (size_t k = 1; k < plan_.accesses.size(); k++) reads_result_ |= plan_.accesses[k].access.tensor == result_var();
}

// ---- binding ----

namespace {

// The stored pieces of this rank tell how wide index arrays are, which those that are fetched nearly always are too.
const Pattern* stored_here(const Home& home) {
  return home.colours().size() == 0 ? nullptr : &home.piece(home.colours().lo).pattern();
}

}  // namespace

void BoundPlan::bind(const Homes& operands) {
  std::map<TensorVar, uint64_t> there;
  for (const auto& [tensor, home] : operands) there.emplace(tensor, home->pattern_version());
  if (tasks_ && there == patterns_) return;
  notes_.begin();
  runtime::Recording recording(transport_.sent(), notes_.sent);
  homecoming_.reset();
  taken_over_.reset();
  settled_.reset();
  values_home_.reset();
  made_ = 0;
  ready_.reset();
  first_.over = false;
  if (!located_) {
    auto at_home = [&](const notation::Access& access) { return stored_here(*operands.at(access.tensor)); };
    notes_.compiling([&] { read(compiled_.leaf(LeafKind::Piece, at_home).kernel()); });
  }
  tasks_.emplace(plan_, operands, result_shares_, transport_, *located_);
  launcher_.bind(*tasks_);
  notes_.expect(colours().size());
  fetches_.bind(*tasks_, operands, numbered_by_all(), moves());
  plan_pieces(operands);
  if (!by_steps()) plan_targets({});
  writes_ = plan_.accesses[0].privilege == plan::Privilege::Write && tasks_->are_disjoint();
  if (result_var().format().is_dense()) in_place_ = on_all_ranks(can_be_in_place());
  else way_ = choose_way();
  patterns_ = std::move(there);
}

// Of what no step cuts.
void BoundPlan::plan_pieces(const Homes& operands) {
  for (const plan::Action& action : plan_.actions)
    if (auto* planned = action.as<plan::MakePartition>(); planned && planned->access > 0)
      fetches_.plan(planned->access, operands);
}

runtime::DeviceMoves* BoundPlan::moves() { return compiled_.processor == GPU ? &moves_of(process_) : nullptr; }

// What the leaf tells of the plan, whatever its widths are.
void BoundPlan::read(const lower::Lowered& kernel) {
  located_ = find_located(plan_, kernel);
  numbered_ = find_numbered(plan_, kernel);
  if (kernel.assembly == lower::Assembly::Shared)
    shared_ = {number_of(plan_, kernel.operands[size_t(kernel.shared_tensor) - 1]), kernel.shared_level};
}

// What the leaf allows, whether it starts from nothing or adds: steps after the first do. Other leaves are not run where they
// do not.
std::vector<NumberedGroup> BoundPlan::numbered_by_all() {
  if (numbered_.empty() || tasks_->steps().size() == 1) return numbered_;
  auto unknown = [](const notation::Access&) { return nullptr; };
  std::vector<NumberedGroup> out, adding;
  notes_.compiling([&] { adding = find_numbered(plan_, compiled_.leaf(LeafKind::Adding, unknown).kernel()); });
  std::ranges::copy_if(numbered_, std::back_inserter(out),
                       [&](const NumberedGroup& group) { return std::ranges::find(adding, group) != adding.end(); });
  return out;
}

// Collective.
void BoundPlan::plan_targets(const StepValues& step) {
  targets_.clear();
  first_.together([&] {
    for (int64_t c = colours().lo; c < colours().hi; c++) {
      Need need = tasks_->need(0, c, step, fetches_.pieces());
      bool dense = result_var().format().is_dense();
      ResultTarget target{dense ? select_coordinates(plan_.accesses[0], need) : std::move(need.coordinates),
                          {},
                          tasks_->is_idle(c, step)};
      for (const std::optional<Range>& r : tasks_->ranges(0, c, step, fetches_.pieces()))
        target.ranges.push_back(r.value());
      targets_.push_back(std::move(target));
    }
  });
}

// Collective.
bool BoundPlan::on_all_ranks(bool here) { return transport_.allreduce(int64_t(here), runtime::ReduceOp::Min) != 0; }

// ---- computing ----

namespace {

// Ghosts are on their way to memory of homes: all have arrived when this ends, however it comes to that.
class Arriving {
 public:
  explicit Arriving(Fetches& fetches) : fetches_(fetches) {}
  ~Arriving() {
    try {
      fetches_.finish();
    } catch (...) {}  // what failed before is what is told
  }
  Arriving(const Arriving&) = delete;
  Arriving& operator=(const Arriving&) = delete;

 private:
  Fetches& fetches_;
};

}  // namespace

void BoundPlan::compute(const Homes& operands, std::optional<Home>& result, const std::vector<Scalar>& arguments) {
  RunNotes::Page page(notes_);
  launcher_.use(arguments);
  bind(operands);
  notes_.expect(colours().size());
  runtime::Recording recording(transport_.sent(), notes_.sent);
  Arriving arriving(fetches_);
  PlanRun run{.operands = operands, .result = result};
  begin(run);
  perform(plan_.actions, run);
  first_.over = true;
  fetches_.note_pieces();
}

void BoundPlan::begin(PlanRun& run) {
  exchanging([&] { fetches_.begin(run.operands); });
  if (result_var().format().is_dense()) begin_dense(run);
  else begin_sparse(run);
}

void BoundPlan::perform(const std::vector<plan::Action>& actions, PlanRun& run) {
  for (const plan::Action& action : actions)
    match(
        action, [&](const plan::MakePartition& n) { partition(n.access, run); },
        [&](const plan::FetchPieces& n) { exchanging([&] { fetch(n.access, run); }); },
        [&](const plan::ForSteps& n) { take_steps(n, run); }, [&](const plan::LaunchLeaf&) { launch(run); },
        [&](const plan::TakeHome&) { take_home(run); });
}

// What no step cuts is partitioned when the plan is bound.
void BoundPlan::partition(size_t access, PlanRun& run) {
  if (run.step.empty()) return;
  if (access > 0) return exchanging([&] { fetches_.plan(access, sources(run), run.step); });
  plan_targets(run.step);
  homecoming_.reset();
  run.start = Start::Zero;
}

void BoundPlan::fetch(size_t access, PlanRun& run) {
  if (run.step.empty()) fetches_.start(access, run.operands);
  else fetches_.bring(access, sources(run));
}

void BoundPlan::take_steps(const plan::ForSteps& steps, PlanRun& run) {
  if (run.step.empty()) exchanging([&] { fetches_.finish(); });
  for (int64_t step = 0; step < tasks_->step_count(steps.loop); step++) {
    run.step.push_back(step);
    exchanging([&] { fetches_.enter(run.step); });
    perform(steps.actions, run);
    run.step.pop_back();
  }
}

void BoundPlan::launch(PlanRun& run) {
  if (result_var().format().is_dense()) launch_dense(run);
  else launch_sparse(run);
  run.launches++;
}

void BoundPlan::take_home(PlanRun& run) {
  if (result_var().format().is_dense()) take_home_dense(run);
  else take_home_sparse(run);
}

// Where the operands are read from.
Homes BoundPlan::sources(const PlanRun& run) const {
  Homes out = run.operands;
  if (run.before) out[result_var()] = &*run.before;
  return out;
}

// What the next step has for itself is brought while this one computes.
void BoundPlan::fetch_ahead(const PlanRun& run) {
  if (run.launches + 1 < tasks_->steps().size())
    exchanging([&] { fetches_.fetch_ahead(sources(run), tasks_->steps()[run.launches + 1]); });
}

void BoundPlan::note_sent(const runtime::Ledger& sent) {
  if (sent.bytes() == 0) return;
  notes_.begin();
  notes_.sent.add(sent);
}

// Before the first run: that of the first colour here which has something to do. Pieces of steps are not there yet.
std::string BoundPlan::kernel() {
  const Tasks::Pieces& pieces = fetches_.pieces();
  bool there = std::all_of(pieces.begin() + 1, pieces.end(), [](const auto& piece) { return piece != nullptr; });
  for (int64_t c = colours().lo; there && launcher_.kernel().empty() && c < colours().hi; c++)
    if (!tasks_->is_idle(c, {})) launcher_.code_for({c, {}});
  return launcher_.kernel();
}

plan::PlanFacts BoundPlan::facts() {
  auto on_all = [&]<class E>(E here) { return E(transport_.allreduce(int64_t(here), runtime::ReduceOp::Max)); };
  const Numberings& numberings = fetches_.numberings();
  plan::PlanFacts out{numberings.groups(), {}, {std::nullopt}, returns()};
  for (size_t g = 0; g < numberings.groups().size(); g++) out.found_by.push_back(on_all(numberings.found_by(g)));
  for (size_t k = 1; k < plan_.accesses.size(); k++) {
    std::optional<plan::Travels>& travels = out.travels.emplace_back();
    if (!tasks_->by_steps(k)) travels = on_all(fetches_.travels(k));
  }
  return out;
}

plan::Returns BoundPlan::returns() const {
  if (tasks_->everywhere()) return plan::Returns::Kept;
  if (result_var().format().is_dense()) {
    if (in_place_) return plan::Returns::InPlace;
    return assigns() ? plan::Returns::Assigned : plan::Returns::AddedUp;
  }
  if (way_ == Way::Moves) return plan::Returns::Merged;
  return way_ == Way::TakesOver ? plan::Returns::Joined : plan::Returns::Stays;
}

Report BoundPlan::report() const {
  Report out = collect(transport_, notes_, plan_, *tasks_, home_shares());
  out.leaf = compiled_.routine;
  return out;
}

}  // namespace spdistal
