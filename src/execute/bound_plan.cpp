#include "execute/bound_plan.hpp"

#include <algorithm>

namespace spdistal {

using namespace notation;

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
  if (result_ && there == patterns_) return;
  binding_.notes.begin();
  runtime::Recording recording(binding_.transport.sent(), binding_.notes.sent);
  result_.reset();
  binding_.first.over = false;
  if (!binding_.located) {
    auto at_home = [&](const notation::Access& access) { return stored_here(*operands.at(access.tensor)); };
    binding_.notes.compiling([&] { binding_.read(binding_.compiled.leaf(LeafKind::Piece, at_home).kernel()); });
  }
  binding_.tasks.emplace(binding_.plan, operands, binding_.shares, binding_.transport, *binding_.located);
  binding_.launcher.bind(*binding_.tasks);
  binding_.notes.expect(binding_.colours().size());
  binding_.fetches.bind(*binding_.tasks, operands, numbered_by_all(), binding_.moves());
  plan_operands(operands);
  if (!binding_.by_steps()) binding_.plan_targets({});
  binding_.writes = binding_.plan.accesses[0].privilege == plan::Privilege::Write && binding_.tasks->are_disjoint();
  result_ = bound_result(binding_);
  patterns_ = std::move(there);
}

// Of what no step cuts.
void BoundPlan::plan_operands(const Homes& operands) {
  for (const plan::Action& action : binding_.plan.actions)
    if (auto* planned = action.as<plan::MakePartition>(); planned && planned->access > 0)
      binding_.fetches.plan(planned->access, operands);
}

// What the leaf allows, whether it starts from nothing or adds: steps after the first do. Other leaves are not run where they
// do not.
std::vector<NumberedGroup> BoundPlan::numbered_by_all() {
  if (binding_.numbered.empty() || binding_.tasks->steps().size() == 1) return binding_.numbered;
  auto unknown = [](const notation::Access&) { return nullptr; };
  std::vector<NumberedGroup> out, adding;
  binding_.notes.compiling(
      [&] { adding = find_numbered(binding_.plan, binding_.compiled.leaf(LeafKind::Adding, unknown).kernel()); });
  std::ranges::copy_if(binding_.numbered, std::back_inserter(out),
                       [&](const NumberedGroup& group) { return std::ranges::find(adding, group) != adding.end(); });
  return out;
}

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
  RunNotes::Page page(binding_.notes);
  binding_.launcher.use(arguments);
  bind(operands);
  binding_.notes.expect(binding_.colours().size());
  runtime::Recording recording(binding_.transport.sent(), binding_.notes.sent);
  Arriving arriving(binding_.fetches);
  PlanRun run{.operands = operands, .result = result};
  binding_.exchanging([&] { binding_.fetches.begin(operands); });
  result_->begin(run);
  perform(binding_.plan.actions, run);
  binding_.first.over = true;
  binding_.fetches.note_pieces();
}

void BoundPlan::perform(const std::vector<plan::Action>& actions, PlanRun& run) {
  for (const plan::Action& action : actions)
    match(
        action, [&](const plan::MakePartition& n) { partition(n.access, run); },
        [&](const plan::FetchPieces& n) { binding_.exchanging([&] { fetch(n.access, run); }); },
        [&](const plan::ForSteps& n) { take_steps(n, run); },
        [&](const plan::LaunchLeaf&) {
          result_->launch(run);
          run.launches++;
        },
        [&](const plan::TakeHome&) { result_->take_home(run); });
}

// What no step cuts is partitioned when the plan is bound.
void BoundPlan::partition(size_t access, PlanRun& run) {
  if (run.step.empty()) return;
  if (access > 0) return binding_.exchanging([&] { binding_.fetches.plan(access, binding_.sources(run), run.step); });
  binding_.plan_targets(run.step);
  result_->enter_step();
}

void BoundPlan::fetch(size_t access, PlanRun& run) {
  if (run.step.empty()) binding_.fetches.start(access, run.operands);
  else binding_.fetches.bring(access, binding_.sources(run));
}

void BoundPlan::take_steps(const plan::ForSteps& steps, PlanRun& run) {
  binding_.await_operands(run);
  for (int64_t step = 0; step < binding_.tasks->step_count(steps.loop); step++) {
    run.step.push_back(step);
    binding_.exchanging([&] { binding_.fetches.enter(run.step); });
    perform(steps.actions, run);
    run.step.pop_back();
  }
}

void BoundPlan::note_sent(const runtime::Ledger& sent) {
  if (sent.bytes() == 0) return;
  binding_.notes.begin();
  binding_.notes.sent.add(sent);
}

// Before the first run: that of the first colour here which has something to do. Pieces of steps are not there yet.
std::string BoundPlan::kernel() {
  const Tasks::Pieces& pieces = binding_.fetches.pieces();
  bool there = std::all_of(pieces.begin() + 1, pieces.end(), [](const auto& piece) { return piece != nullptr; });
  for (int64_t c = binding_.colours().lo; there && binding_.launcher.kernel().empty() && c < binding_.colours().hi; c++)
    if (!binding_.tasks->is_idle(c, {})) binding_.launcher.code_for({c, {}});
  return binding_.launcher.kernel();
}

plan::PlanFacts BoundPlan::facts() {
  auto on_all = [&]<class E>(E here) { return E(binding_.transport.allreduce(int64_t(here), runtime::ReduceOp::Max)); };
  const Numberings& numberings = binding_.fetches.numberings();
  plan::PlanFacts out{numberings.groups(), {}, {std::nullopt}, result_->returns()};
  for (size_t g = 0; g < numberings.groups().size(); g++) out.found_by.push_back(on_all(numberings.found_by(g)));
  for (size_t k = 1; k < binding_.plan.accesses.size(); k++) {
    std::optional<plan::Travels>& travels = out.travels.emplace_back();
    if (!binding_.tasks->by_steps(k)) travels = on_all(binding_.fetches.travels(k));
  }
  return out;
}

Report BoundPlan::report() const {
  Report out = collect(binding_.transport, binding_.notes, binding_.plan, *binding_.tasks, result_->home_shares());
  out.leaf = binding_.compiled.routine;
  return out;
}

}  // namespace spdistal
