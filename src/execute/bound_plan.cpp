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
      program_(compiled.program()),
      result_shares_(std::move(shares)),
      result_dims_(known_dims(program_.leaf.result)),
      operation_(operation_of(program_.leaf)),
      background_(background_of(program_.leaf)),
      first_{transport_},
      fetches_(transport_, program_, first_, notes_),
      launcher_(process, compiled, fetches_, notes_) {
  for (size_t k = 1; k < program_.accesses.size(); k++)
    reads_result_ |= program_.accesses[k].access.tensor == result_var();
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
  in_place_.reset();
  way_.reset();
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
  tasks_.emplace(program_, operands, result_shares_, transport_, *located_);
  launcher_.bind(*tasks_);
  notes_.expect(colours().size());
  fetches_.bind(*tasks_, operands, numbered_by_all(), moves());
  if (!by_steps()) plan_targets({});
  writes_ = program_.plan.accesses[0].privilege == plan::Privilege::Write && tasks_->are_disjoint();
  patterns_ = std::move(there);
}

runtime::DeviceMoves* BoundPlan::moves() { return compiled_.processor == GPU ? &moves_of(process_) : nullptr; }

// What the leaf tells of the plan, whatever its widths are.
void BoundPlan::read(const lower::Lowered& kernel) {
  located_ = find_located(program_, kernel);
  numbered_ = find_numbered(program_, kernel);
  if (kernel.assembly == lower::Assembly::Shared)
    shared_ = {number_of(program_, kernel.operands[size_t(kernel.shared_tensor) - 1]), kernel.shared_level};
}

// What the leaf allows, whether it starts from nothing or adds: steps after the first do. Other leaves are not run where they
// do not.
std::vector<NumberedGroup> BoundPlan::numbered_by_all() {
  if (numbered_.empty() || tasks_->steps().size() == 1) return numbered_;
  auto unknown = [](const notation::Access&) { return nullptr; };
  std::vector<NumberedGroup> out, adding;
  notes_.compiling([&] { adding = find_numbered(program_, compiled_.leaf(LeafKind::Adding, unknown).kernel()); });
  std::ranges::copy_if(numbered_, std::back_inserter(out),
                       [&](const NumberedGroup& group) { return std::ranges::find(adding, group) != adding.end(); });
  return out;
}

// Collective.
void BoundPlan::plan_targets(const StepValues& step) {
  targets_.clear();
  first_.together([&] {
    for (int64_t c = colours().lo; c < colours().hi; c++) {
      ResultTarget target{tasks_->need(0, c, step, fetches_.pieces()).coordinates, {}, tasks_->is_idle(c, step)};
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
  exchanging([&] { fetches_.start(operands); });
  if (result_var().format().is_dense()) compute_dense(operands, result);
  else compute_sparse(operands, result);
  first_.over = true;
  fetches_.note_pieces();
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

Report BoundPlan::report() const {
  Report out = collect(transport_, notes_, program_.plan, *tasks_, home_shares());
  out.leaf = compiled_.routine;
  return out;
}

}  // namespace spdistal
