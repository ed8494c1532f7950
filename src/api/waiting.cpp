#include "api/waiting.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "api/session.hpp"
#include "api/state.hpp"
#include "compile/check.hpp"

namespace spdistal {

namespace {

// So many statements may wait. Where more take their turn, the older half is computed: who says statements without end and
// never looks needs no memory without end for it. Where more lack data, something is wrong.
constexpr size_t most_waiting = 1000;

bool contains(const std::vector<const TensorState*>& tensors, const TensorState* tensor) {
  return std::find(tensors.begin(), tensors.end(), tensor) != tensors.end();
}

// What a statement reads, its own result included where it does.
std::vector<const TensorState*> read_by(const StatementState& statement, const TensorState& result) {
  std::vector<const TensorState*> out;
  for (const std::shared_ptr<TensorState>& operand : statement.operands) out.push_back(operand.get());
  if (statement.reads_result) out.push_back(&result);
  return out;
}

// A tensor is overwritten: statements that write it and that nobody reads before need not be computed.
template <class List>
void drop_unread(List& list, const TensorState& overwritten) {
  for (size_t k = list.size(); k-- > 0;)
    if (list[k].writes(overwritten)) list.erase(list.begin() + long(k));
    else if (list[k].reads(overwritten)) return;
}

void attempt(TensorState& result, StatementState& statement) {
  try {
    run(result, statement);
    result.failure = nullptr;
  } catch (...) { result.failure = std::current_exception(); }
  if (result.released) result.current.reset();  // nobody can ask to compute it again
}

}  // namespace

bool Waiting::Said::reads(const TensorState& tensor) const {
  for (const std::shared_ptr<TensorState>& operand : statement->operands)
    if (operand.get() == &tensor) return true;
  return statement->reads_result && writes(tensor);
}

// ---- taking turns ----

// Of a tensor that is read at the end of the turns.
bool Waiting::has_data(const TensorState& tensor) const {
  return tensor.home || tensor.failure ||
         std::any_of(in_turn_.begin(), in_turn_.end(), [&](const Said& said) { return said.writes(tensor); });
}

// Must the last of those that wait for data be computed before a statement that was said after it? Not where it reads what
// the statement writes and has nothing to read yet: then it waits for just that.
bool Waiting::stands_in_the_way(std::span<const Said> earlier, const Said& said) const {
  const Said& last = earlier.back();
  std::shared_ptr<TensorState> result = said.result.lock(), other = last.result.lock();
  if (!other) return false;
  if (other == result || said.reads(*other)) return true;
  auto writes = [&](const Said& before) { return before.writes(*result); };
  return last.reads(*result) && (has_data(*result) || std::any_of(earlier.begin(), earlier.end(), writes));
}

// Whether a statement can take its turn; of what waits for data, `earlier` was said before it.
bool Waiting::is_ready(const Said& said, std::span<const Said> earlier) const {
  for (const std::shared_ptr<TensorState>& operand : said.statement->operands)
    if (!has_data(*operand)) return false;
  for (size_t k = earlier.size(); k > 0; k--)
    if (stands_in_the_way(earlier.first(k), said)) return false;
  // A result that holds nothing is zero where a statement reads what it writes.
  return has_sizes(said.result.lock()->var);
}

void Waiting::take_turn(Said said) {
  if (!said.statement->reads_result) drop_unread(in_turn_, *said.result.lock());
  in_turn_.push_back(std::move(said));
}

// Those whose data has come take their turn; what they give may be what others wait for.
void Waiting::settle() {
  for (size_t k = 0; k < for_data_.size();) {
    bool ready = !for_data_[k].result.expired() && is_ready(for_data_[k], std::span(for_data_).first(k));
    if (ready) {
      take_turn(std::move(for_data_[k]));
      for_data_.erase(for_data_.begin() + long(k));
    }
    k = ready ? 0 : k + 1;
  }
}

void Waiting::say(TensorState& result, const std::shared_ptr<StatementState>& statement) {
  settle();
  forget_unseen();
  Said said{statement, result.weak_from_this()};
  if (!statement->reads_result) drop_unread(for_data_, result);
  bool ready = is_ready(said, for_data_);
  if (!ready && for_data_.size() == most_waiting) refuse_without_data(*for_data_.back().result.lock());
  result.waiting = weak_from_this();
  result.current = statement;
  if (!ready) return for_data_.push_back(std::move(said));
  take_turn(std::move(said));
  if (in_turn_.size() <= most_waiting) return;
  auto half = in_turn_.begin() + long(most_waiting / 2);
  List old(std::make_move_iterator(in_turn_.begin()), std::make_move_iterator(half));
  in_turn_.erase(in_turn_.begin(), half);
  run(old);
}

// ---- whom nobody can see ----

void Waiting::forget_unseen() {
  auto is_unseen = [](const Said& said) { return said.result.expired(); };
  // One that goes may have been the last to keep the result of another.
  while (std::erase_if(for_data_, is_unseen) + std::erase_if(in_turn_, is_unseen) > 0) {}
}

void Waiting::release(std::shared_ptr<TensorState> tensor) {
  auto is_current = [&](const Said& said) { return said.statement == tensor->current; };
  bool waits = std::any_of(in_turn_.begin(), in_turn_.end(), is_current) ||
               std::any_of(for_data_.begin(), for_data_.end(), is_current);
  if (!waits) tensor->current.reset();  // nobody can ask to compute it again
  tensor.reset();
  forget_unseen();
  forget_circles();
}

// Statements may keep nothing but each other: f(i) = g(i), g(i) = f(i). A result is seen that has a handle, or is kept by
// anything but waiting statements, or is read by one whose result is seen.
void Waiting::forget_circles() {
  struct Result {
    std::shared_ptr<TensorState> tensor = nullptr;
    std::vector<const StatementState*> statements = {};
    long inside = 1;  // references from here
    bool seen = false;
  };
  std::map<const TensorState*, Result> results;
  for (List* list : {&in_turn_, &for_data_})
    for (Said& said : *list) {
      std::shared_ptr<TensorState> tensor = said.result.lock();
      Result& result = results[tensor.get()];
      result.tensor = std::move(tensor);
      result.statements.push_back(said.statement.get());
    }
  auto each_operand = [&](const Result& result, auto&& f) {
    for (const StatementState* statement : result.statements)
      for (const std::shared_ptr<TensorState>& operand : statement->operands)
        if (auto found = results.find(operand.get()); found != results.end()) f(found->second);
  };
  for (const auto& [tensor, result] : results) each_operand(result, [](Result& operand) { operand.inside++; });

  std::vector<const Result*> reading;
  auto see = [&](Result& result) {
    if (!result.seen) reading.push_back(&result);
    result.seen = true;
  };
  for (auto& [tensor, result] : results)
    if (!tensor->released || result.tensor.use_count() > result.inside) see(result);
  while (!reading.empty()) {
    const Result& reader = *reading.back();
    reading.pop_back();
    each_operand(reader, see);
  }
  for (List* list : {&in_turn_, &for_data_})
    std::erase_if(*list, [&](const Said& said) { return !results.at(said.result.lock().get()).seen; });
  for (auto& [tensor, result] : results)
    if (!result.seen) result.tensor->current.reset();
}

void Waiting::clear() {
  in_turn_.clear();
  for_data_.clear();
}

// ---- computing ----

// Takes out of the list, in order, what must be computed before the tensors `read` are read and those `written` are
// changed, as they stand after the first `before` of the list. What those overwrite unread goes too.
Waiting::List Waiting::take_needed(Tensors read, Tensors written, size_t before) {
  List needed;
  Tensors given;  // by those that are needed
  for (size_t k = before; k-- > 0;) {
    Said& said = in_turn_[k];
    std::shared_ptr<TensorState> result = said.result.lock();
    if (!result) continue;
    Tensors own = read_by(*said.statement, *result);
    bool changes = std::any_of(own.begin(), own.end(), [&](const TensorState* t) { return contains(written, t); });
    if (changes || contains(read, result.get())) {
      std::erase(read, result.get());
      read.insert(read.end(), own.begin(), own.end());
      written.push_back(result.get());
      given.push_back(result.get());
      needed.push_back(std::move(said));
    } else if (contains(given, result.get())) {
      said.statement.reset();
    }
  }
  std::erase_if(in_turn_, [](const Said& said) { return !said.statement; });
  std::reverse(needed.begin(), needed.end());
  return needed;
}

void Waiting::run(const List& needed) {
  for (const Said& said : needed)
    if (std::shared_ptr<TensorState> result = said.result.lock()) attempt(*result, *said.statement);
}

// Throws where a statement that waits for data writes this tensor: about the first that keeps it waiting.
void Waiting::refuse_without_data(const TensorState& tensor) const {
  auto writes = [&](const Said& said) { return said.writes(tensor); };
  auto last = std::find_if(for_data_.rbegin(), for_data_.rend(), writes);
  if (last == for_data_.rend()) return;
  size_t first = size_t(for_data_.rend() - last) - 1;
  for (size_t k = first; k > 0; k--)
    if (stands_in_the_way(std::span(for_data_).first(k), for_data_[first])) first = k - 1;
  StatementState& statement = *for_data_[first].statement;
  for (const std::shared_ptr<TensorState>& operand : statement.operands)
    if (!has_data(*operand)) home_of(*operand);
  check_sizes(statement);
  require(false, "a statement that waits for data lacks some");
}

void Waiting::before_look(TensorState& tensor) {
  if (nothing_waits()) return;
  settle();
  refuse_without_data(tensor);
  finish(tensor);
}

void Waiting::finish(TensorState& tensor) {
  settle();
  run(take_needed({&tensor}, {}, in_turn_.size()));
}

void Waiting::before_change(TensorState& tensor) {
  if (nothing_waits()) return;
  settle();
  run(take_needed({}, {&tensor}, in_turn_.size()));
}

void Waiting::replaced(TensorState& tensor) {
  tensor.failure = nullptr;
  if (nothing_waits()) return;
  drop_unread(in_turn_, tensor);
  std::erase_if(for_data_, [&](const Said& said) { return said.writes(tensor); });
}

bool Waiting::gives(const TensorState& tensor) const {
  auto writes = [&](const Said& said) { return said.writes(tensor); };
  return std::any_of(in_turn_.begin(), in_turn_.end(), writes) ||
         std::any_of(for_data_.begin(), for_data_.end(), writes);
}

void Waiting::compute(TensorState& tensor) {
  std::shared_ptr<StatementState> statement = current_statement(tensor);
  settle();
  if (gives(tensor)) {
    before_look(tensor);
  } else {
    take_operands(tensor, *statement, in_turn_.size(), {&tensor});
    attempt(tensor, *statement);
  }
  if (tensor.failure) std::rethrow_exception(tensor.failure);
}

void Waiting::compile(TensorState& tensor) {
  std::shared_ptr<StatementState> statement = current_statement(tensor);
  settle();
  refuse_without_data(tensor);
  size_t turn = 0;
  while (turn < in_turn_.size() && in_turn_[turn].statement != statement) turn++;
  take_operands(tensor, *statement, turn, {});
  prepare(tensor, *statement);
}

// Computes what a statement reads, as it is after the first `turn` in turn. Throws where there is none.
void Waiting::take_operands(const TensorState& result, const StatementState& statement, size_t turn, Tensors written) {
  for (const std::shared_ptr<TensorState>& operand : statement.operands) {
    if (turn == in_turn_.size()) refuse_without_data(*operand);
    if (!has_data(*operand)) home_of(*operand);
  }
  if (turn > 0) run(take_needed(read_by(statement, result), std::move(written), turn));
  for (const std::shared_ptr<TensorState>& operand : statement.operands) home_of(*operand);
}

Waiting& waiting() { return *Session::instance().waiting; }

}  // namespace spdistal
