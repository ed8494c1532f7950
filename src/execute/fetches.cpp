#include "execute/fetches.hpp"

#include <algorithm>
#include <ranges>

#include "base/require.hpp"
#include "tensor/distribute.hpp"

namespace spdistal {

Fetches::Fetches(runtime::Transport& transport, const plan::Plan& plan, const FirstRun& first, RunNotes& notes)
    : transport_(transport), plan_(plan), operands_(plan.operands()), first_(first), notes_(notes), numberings_(plan) {}

void Fetches::bind(Tasks& tasks, const Homes& operands, std::vector<NumberedGroup> groups,
                   runtime::DeviceMoves* moves) {
  tasks_ = &tasks;
  moves_ = moves;
  numberings_.bind(std::move(groups), tasks, moves ? Numberings::Ghosts::Apart : Numberings::Ghosts::BehindHomes);
  pieces_.assign(plan_.accesses.size(), nullptr);
  at_hand_.assign(plan_.accesses.size(), {});
  kept_.clear();
  ahead_.clear();
  kept_bytes_ = home_bytes_ = 0;
  full_ = false;
  for (const auto& [tensor, home] : operands)
    for (int64_t q = home->colours().lo; q < home->colours().hi; q++) home_bytes_ += int64_t(home->piece(q).bytes());
  ordered_.clear();
}

// Where an access is fetched from: the home of its tensor, or, where positions are dealt out that are not consecutive in its
// pieces, a copy in which they are.
const Home& Fetches::source(size_t access, const Homes& operands) {
  const Home& home = *operands.at(plan_.accesses[access].access.tensor);
  const std::optional<plan::PositionSplit>& split = plan_of(access).split;
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
  for (size_t k = 1; k < plan_.accesses.size(); k++) homes.push_back(operands.at(plan_.accesses[k].access.tensor));
  return numberings_.of(access, pieces_, homes);
}

// Collective. What is also written is copied: it changes while it is read.
Fetches::Planned Fetches::make(size_t access, const Homes& operands, const StepValues& step) {
  bool written = plan_.accesses[access].access.tensor == plan_.leaf.result;
  FetchRequest request{plan_of(access), tasks_->grid(), {}, {}, {}, written, &notes_.traffic, moves_};
  first_.together([&] {
    for (int64_t c = 0; c < tasks_->grid().count(); c++)
      request.needs.push_back(tasks_->need(access, c, step, pieces_));
    for (int64_t c = tasks_->colours().lo; c < tasks_->colours().hi; c++)
      request.ranges.push_back(tasks_->ranges(access, c, step, pieces_));
    request.numbers = numbers_for(access, operands);
  });
  tasks_->forget(access);
  notes_.planned++;
  return std::make_shared<Fetch>(transport_, source(access, operands), std::move(request));
}

void Fetches::plan(size_t access, const Homes& operands) { pieces_[access] = make(access, operands, {}); }

// Where one makes room in a home, that may come to lie elsewhere: those before it look again.
void Fetches::prepare(const Homes& operands) {
  for (int turn = 0; turn < 2; turn++)
    for (size_t k : operands_)
      if (pieces_[k]) pieces_[k]->prepare(source(k, operands));
}

void Fetches::begin(const Homes& operands) {
  ahead_.clear();  // of a run that failed
  prepare(operands);
}

void Fetches::start(size_t access, const Homes& operands) { pieces_[access]->start(source(access, operands)); }

void Fetches::finish() {
  for (size_t k : operands_)
    if (pieces_[k] && !tasks_->by_steps(k)) pieces_[k]->finish();
  for (const auto& [_, fetch] : ahead_) fetch->finish();
}

bool Fetches::are_under_way() const {
  auto under_way = [](const Planned& fetch) { return fetch && !fetch->is_there(); };
  return std::ranges::any_of(pieces_, under_way) || std::ranges::any_of(ahead_ | std::views::values, under_way);
}

int64_t Fetches::bytes_under_way() const {
  int64_t bytes = 0;
  auto count = [&](const Planned& fetch) {
    if (fetch && !fetch->is_there()) bytes += fetch->bytes_received();
  };
  std::ranges::for_each(pieces_, count);
  std::ranges::for_each(ahead_ | std::views::values, count);
  return bytes;
}

void Fetches::poll() {
  for (const Planned& fetch : pieces_)
    if (fetch) fetch->poll();
  for (const auto& [_, fetch] : ahead_) fetch->poll();
}

void Fetches::note_pieces() {
  notes_.note_pieces(plan_, *tasks_, pieces_);
  for (size_t k = 1; k < pieces_.size(); k++)
    for (int64_t c = tasks_->colours().lo; c < tasks_->colours().hi; c++)
      notes_.held[{k, c}] += int64_t(numberings_.bytes(k, c, pieces_));
}

// None is left of another step for those to be looked at that are planned next.
void Fetches::enter(const StepValues& step) {
  for (const auto& [_, fetch] : ahead_) fetch->finish();
  for (size_t k : operands_) {
    if (tasks_->loops_of_steps(k) != step.size()) continue;
    if (pieces_[k] && at_hand_[k] != step) {
      if (kept_.contains({k, at_hand_[k]})) pieces_[k]->release();
      pieces_[k].reset();
      tasks_->forget(k);
    }
    if (auto ahead = ahead_.find(k); ahead != ahead_.end()) {
      pieces_[k] = std::move(ahead->second);
      at_hand_[k] = step;
      ahead_.erase(ahead);
    }
  }
}

// Collective. There are as many as there is memory for.
void Fetches::keep(size_t access, const StepValues& step, const Planned& fetch) {
  int64_t pattern = int64_t(fetch->pattern_bytes()), all = 0;
  for (int64_t c = tasks_->colours().lo; c < tasks_->colours().hi; c++) all += int64_t(fetch->bytes(c));
  enum : int64_t { None, Alone, BesideOthers };
  int64_t room = kept_bytes_ + pattern > home_bytes_ ? None : all > home_bytes_ ? Alone : BesideOthers;
  room = transport_.allreduce(room, runtime::ReduceOp::Min);
  full_ |= room == None;
  if (room == None) return;
  kept_.emplace(std::pair(access, step), Kept{fetch, room == BesideOthers});
  kept_bytes_ += pattern;
}

// Kept since it was planned, or planned now.
void Fetches::plan(size_t access, const Homes& operands, const StepValues& step) {
  if (pieces_[access]) return;
  at_hand_[access] = step;
  if (auto found = kept_.find({access, step}); found != kept_.end()) {
    pieces_[access] = found->second.fetch;
    return;
  }
  pieces_[access] = make(access, operands, step);
  keep(access, step, pieces_[access]);
}

void Fetches::bring(size_t access, const Homes& operands) {
  prepare(operands);
  start(access, operands);
  pieces_[access]->finish();
  notes_.note_piece(access, *tasks_, pieces_);
}

void Fetches::fetch_ahead(const Homes& operands, const StepValues& next) {
  if (moves_) return;
  for (size_t k : operands_) {
    StepValues own = tasks_->step_of(k, next);
    if (!tasks_->by_steps(k) || at_hand_[k] == own) continue;
    if (!kept_.contains({k, own}) && tasks_->stands_alone(k) && !full_) {
      Planned fetch = make(k, operands, own);
      keep(k, own, fetch);
      fetch->release();
    }
    if (auto found = kept_.find({k, own}); found != kept_.end() && found->second.beside_others)
      ahead_.emplace(k, found->second.fetch);
  }
  for (const auto& [k, fetch] : ahead_) fetch->prepare(source(k, operands));
  for (const auto& [k, fetch] : ahead_) fetch->start(source(k, operands));
}

plan::Travels Fetches::travels(size_t access) const {
  plan::Travels out = plan::Travels::Nothing;
  for (int64_t c = tasks_->colours().lo; c < tasks_->colours().hi; c++)
    out = std::max(out, pieces_[access]->travels(c));
  return out;
}

}  // namespace spdistal
