#include "execute/fetches.hpp"

#include <algorithm>

#include "base/require.hpp"
#include "tensor/distribute.hpp"

namespace spdistal {

Fetches::Fetches(runtime::Transport& transport, const lower::Distributed& program, const FirstRun& first,
                 RunNotes& notes)
    : transport_(transport), program_(program), first_(first), notes_(notes), numberings_(program) {}

void Fetches::bind(Tasks& tasks, const Homes& operands, std::vector<NumberedGroup> groups,
                   runtime::DeviceMoves* moves) {
  tasks_ = &tasks;
  moves_ = moves;
  numberings_.bind(std::move(groups), tasks, moves ? Numberings::Ghosts::Apart : Numberings::Ghosts::BehindHomes);
  pieces_.assign(program_.accesses.size(), nullptr);
  at_hand_.assign(program_.accesses.size(), {});
  kept_.clear();
  kept_bytes_ = home_bytes_ = 0;
  for (const auto& [tensor, home] : operands)
    for (int64_t q = home->colours().lo; q < home->colours().hi; q++) home_bytes_ += home->piece(q).bytes();
  ordered_.clear();
  for (size_t k : program_.plan.fetch_order)
    if (!tasks.by_steps(k)) plan(k, operands, {});
}

// Where an access is fetched from: the home of its tensor, or, where positions are dealt out that are not consecutive in its
// pieces, a copy in which they are.
const Home& Fetches::source(size_t access, const Homes& operands) {
  const Home& home = *operands.at(program_.accesses[access].access.tensor);
  const std::optional<plan::SplitLevel>& split = plan_of(access).split;
  if (!split || home.ordered()) return home;
  OrderedCopy& copy = ordered_[access];
  if (!copy.home || copy.version != home.version()) {
    runtime::Sending anew(transport_.sent(), plan_of(access).tensor, runtime::Cargo::Redistribution);
    copy.home = in_order_of_positions(transport_, home, split->level);
    copy.version = home.version();
  }
  return *copy.home;
}

std::vector<PieceNumbers> Fetches::numbers_for(size_t access, const Homes& operands) {
  std::vector<const Home*> homes{nullptr};
  for (size_t k = 1; k < program_.accesses.size(); k++)
    homes.push_back(operands.at(program_.accesses[k].access.tensor));
  return numberings_.of(access, pieces_, homes);
}

// Collective. What is also written is copied: it changes while it is read.
void Fetches::plan(size_t access, const Homes& operands, const StepValues& step) {
  bool written = program_.accesses[access].access.tensor == program_.leaf.result;
  FetchRequest request{plan_of(access), tasks_->grid(), {}, {}, {}, written, &notes_.traffic, moves_};
  first_.together([&] {
    for (int64_t c = 0; c < tasks_->grid().count(); c++)
      request.needs.push_back(tasks_->need(access, c, step, pieces_));
    for (int64_t c = tasks_->colours().lo; c < tasks_->colours().hi; c++)
      request.ranges.push_back(tasks_->ranges(access, c, step, pieces_));
    request.numbers = numbers_for(access, operands);
  });
  tasks_->forget(access);
  pieces_[access] = std::make_shared<Fetch>(transport_, source(access, operands), std::move(request));
  notes_.planned++;
}

// All have their memory before anything is on its way to it. Where one makes room in a home, that may come to lie elsewhere: those
// before it look again.
void Fetches::prepare(const Homes& operands) {
  for (int turn = 0; turn < 2; turn++)
    for (size_t k : program_.plan.fetch_order)
      if (pieces_[k]) pieces_[k]->prepare(source(k, operands));
}

void Fetches::start(const Homes& operands) {
  prepare(operands);
  for (size_t k : program_.plan.fetch_order)
    if (!tasks_->by_steps(k)) pieces_[k]->start(source(k, operands));
}

void Fetches::finish() {
  for (size_t k : program_.plan.fetch_order)
    if (!tasks_->by_steps(k)) pieces_[k]->finish();
}

bool Fetches::are_under_way() const {
  return std::any_of(program_.plan.fetch_order.begin(), program_.plan.fetch_order.end(),
                     [&](size_t k) { return !pieces_[k]->is_there(); });
}

void Fetches::poll() {
  for (size_t k : program_.plan.fetch_order) pieces_[k]->poll();
}

void Fetches::note_pieces() {
  notes_.note_pieces(program_, *tasks_, pieces_);
  for (size_t k = 1; k < pieces_.size(); k++)
    for (int64_t c = tasks_->colours().lo; c < tasks_->colours().hi; c++)
      notes_.held[{k, c}] += int64_t(numberings_.bytes(k, c, pieces_));
}

// Of pieces that belong to another step. None is left for those to be looked at that are planned next.
void Fetches::let_go(const StepValues& step) {
  for (size_t k = 1; k < pieces_.size(); k++) {
    if (!tasks_->by_steps(k) || !pieces_[k] || at_hand_[k] == tasks_->step_of(k, step)) continue;
    if (kept_.contains({k, at_hand_[k]})) pieces_[k]->release();
    pieces_[k].reset();
    tasks_->forget(k);
  }
}

// Collective. The fetch of a step: kept since it was planned, or planned now.
void Fetches::take(size_t access, const Homes& operands, const StepValues& step) {
  at_hand_[access] = tasks_->step_of(access, step);
  if (auto found = kept_.find({access, at_hand_[access]}); found != kept_.end()) {
    pieces_[access] = found->second;
    return;
  }
  plan(access, operands, step);
  size_t bytes = pieces_[access]->pattern_bytes();
  bool fits = kept_bytes_ + bytes <= home_bytes_;
  if (transport_.allreduce(int64_t(fits), runtime::ReduceOp::Min) == 0) return;
  kept_.emplace(std::pair(access, at_hand_[access]), pieces_[access]);
  kept_bytes_ += bytes;
}

void Fetches::fetch(const Homes& operands, const StepValues& step) {
  let_go(step);
  for (size_t k : program_.plan.fetch_order)
    if (tasks_->by_steps(k)) {
      if (!pieces_[k]) take(k, operands, step);
      prepare(operands);
      pieces_[k]->start(source(k, operands));
      pieces_[k]->finish();
      notes_.note_piece(k, *tasks_, pieces_);
    }
}

}  // namespace spdistal
