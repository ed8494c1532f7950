#include "support/sequence_meaning.hpp"

#include <algorithm>
#include <cmath>

#include "notation/parse.hpp"
#include "reference/evaluate.hpp"
#include "support/elements.hpp"

namespace spdistal::test {

using reference::DenseArray;

namespace {

DenseArray array_of(const SequenceTensor& tensor, const std::function<double(const std::vector<int64_t>&)>& value) {
  DenseArray out(ScalarType::Float64, std::vector<int64_t>(tensor.order(), SequenceTensor::side));
  each_element(out.dims, [&](const std::vector<int64_t>& at, size_t k) { out.values[k] = Scalar(value(at)); });
  return out;
}

DenseArray array_of_entries(const SequenceTensor& tensor, int64_t seed) {
  DenseArray out = array_of(tensor, [](const auto&) { return 0.0; });
  for (const auto& [at, value] : entries_of(tensor, seed)) out.at(at) = Scalar(value);
  return out;
}

template <class T>
bool contains(const std::vector<T>& list, const T& item) {
  return std::find(list.begin(), list.end(), item) != list.end();
}

}  // namespace

bool Meaning::Statement::reads(Id id) const { return contains(read, id); }

Meaning::Meaning(const Sequence& sequence) : sequence_(sequence) {
  for (const SequenceTensor& tensor : sequence.tensors) names_.emplace(tensor.name, fresh(tensor));
}

Meaning::Id Meaning::fresh(const SequenceTensor& tensor) {
  std::vector<Extent> extents(tensor.order(), Extent(SequenceTensor::side));
  cells_.push_back({notation::TensorVar(
      {Symbol(tensor.name), ScalarType::Float64, extents, notation::dense_format(tensor.order())})});
  return cells_.size() - 1;
}

size_t Meaning::statement_of(const std::string& text) {
  notation::ParseScope scope;
  for (const auto& [name, id] : names_) scope.tensors.emplace(name, cells_[id].var);
  Statement out{notation::parse_assignment(text, scope), 0, {}};
  auto id_of = [&](const notation::TensorVar& var) {
    return Id(std::find_if(cells_.begin(), cells_.end(), [&](const Cell& cell) { return cell.var == var; }) -
              cells_.begin());
  };
  out.result = id_of(out.assignment.lhs.tensor);
  each<notation::Access>(out.assignment.rhs, [&](const notation::Access& a) { out.read.push_back(id_of(a.tensor)); });
  // What lies outside of a window stays.
  const std::vector<IndexVar>& left = out.assignment.lhs.indices;
  bool window = std::any_of(left.begin(), left.end(), [](const IndexVar& index) { return index.window(); });
  if (window || out.assignment.op != notation::AssignOp::Set) out.read.push_back(out.result);
  statements_.push_back(std::move(out));
  return statements_.size() - 1;
}

// ---- evaluating ----

void Meaning::evaluate(size_t number) {
  const Statement& statement = statements_[number];
  using notation::AssignOp;
  AssignOp op = statement.assignment.op;
  reduces_with_nothing_ |= op != AssignOp::Set && op != AssignOp::Add && !has_data(statement.result);
  reference::Arrays arrays;
  auto add = [&](Id id) {
    DenseArray zeros(ScalarType::Float64, std::vector<int64_t>(cells_[id].var.order(), SequenceTensor::side));
    arrays.emplace(cells_[id].var, cells_[id].data.value_or(zeros));
  };
  add(statement.result);
  for (Id id : statement.read) add(id);
  reference::evaluate(statement.assignment, arrays);
  cells_[statement.result].data = arrays.at(cells_[statement.result].var);
}

// Must the last of so many that lack data go before this one, which was said later?
bool Meaning::blocks(size_t earlier_count, const Statement& statement) const {
  const Statement& last = statements_[for_data_[earlier_count - 1]];
  if (last.result == statement.result || statement.reads(last.result)) return true;
  if (!last.reads(statement.result)) return false;
  bool written = false;
  for (size_t k = 0; k + 1 < earlier_count; k++) written |= statements_[for_data_[k]].result == statement.result;
  return has_data(statement.result) || written;
}

bool Meaning::lacks_operands(const Statement& statement) const {
  return std::any_of(statement.read.begin(), statement.read.end(),
                     [&](Id id) { return id != statement.result && !has_data(id); });
}

bool Meaning::is_ready(const Statement& statement, size_t earlier_count) const {
  if (lacks_operands(statement)) return false;
  for (size_t k = 1; k <= earlier_count; k++)
    if (blocks(k, statement)) return false;
  return true;
}

// A tensor gets another value: statements that give it one and that no later one reads are forgotten.
void Meaning::overwrite(std::vector<size_t>& list, Id id) {
  for (size_t k = list.size(); k-- > 0;) {
    const Statement& statement = statements_[list[k]];
    if (statement.result == id) list.erase(list.begin() + long(k));
    else if (statement.reads(id)) return;
  }
}

void Meaning::take_turn(size_t number) {
  const Statement& statement = statements_[number];
  if (!statement.reads(statement.result)) overwrite(unseen_, statement.result);
  unseen_.push_back(number);
  evaluate(number);
}

void Meaning::settle() {
  for (size_t k = 0; k < for_data_.size(); k++)
    if (is_ready(statements_[for_data_[k]], k)) {
      size_t number = for_data_[k];
      for_data_.erase(for_data_.begin() + long(k));
      take_turn(number);
      return settle();
    }
}

void Meaning::say(size_t number) {
  const Statement& statement = statements_[number];
  cells_[statement.result].current = number;
  if (!statement.reads(statement.result)) overwrite(for_data_, statement.result);
  if (is_ready(statement, for_data_.size())) take_turn(number);
  else for_data_.push_back(number);
  settle();
}

void Meaning::put(Id id, DenseArray data) {
  need({}, {id}, unseen_.size());
  overwrite(unseen_, id);
  std::erase_if(for_data_, [&](size_t number) { return statements_[number].result == id; });
  cells_[id].data = std::move(data);
  settle();
}

// ---- what was needed ----

// Of the first so many that nothing needed yet: those that give what is read now, those that read what is written now, and
// what they read and write in turn. What they overwrite unread will never be needed.
void Meaning::need(std::vector<Id> read, std::vector<Id> written, size_t before) {
  std::vector<Id> given;
  for (size_t k = before; k-- > 0;) {
    const Statement& statement = statements_[unseen_[k]];
    bool gives = contains(read, statement.result);
    bool is_in_time = std::any_of(written.begin(), written.end(), [&](Id id) { return statement.reads(id); });
    if (gives || is_in_time) {
      std::erase(read, statement.result);
      read.insert(read.end(), statement.read.begin(), statement.read.end());
      written.push_back(statement.result);
      given.push_back(statement.result);
    } else if (!contains(given, statement.result)) {
      continue;
    }
    unseen_.erase(unseen_.begin() + long(k));
  }
}

// Does a statement that lacks data write it?
bool Meaning::lacks(Id id) const {
  return std::any_of(for_data_.begin(), for_data_.end(), [&](size_t n) { return statements_[n].result == id; });
}

bool Meaning::compute(Id id) {
  if (!cells_[id].current || lacks(id)) return false;
  size_t number = *cells_[id].current;
  if (contains(unseen_, number)) {
    need({id}, {}, unseen_.size());
    return true;
  }
  const Statement& statement = statements_[number];
  for (Id read : statement.read)
    if (lacks(read)) return false;
  if (lacks_operands(statement)) return false;
  need(statement.read, {id}, unseen_.size());
  evaluate(number);
  settle();
  return true;
}

bool Meaning::compile(Id id) {
  if (!cells_[id].current || lacks(id)) return false;
  const Statement& statement = statements_[*cells_[id].current];
  size_t turn = size_t(std::find(unseen_.begin(), unseen_.end(), *cells_[id].current) - unseen_.begin());
  if (turn == unseen_.size()) {
    for (Id read : statement.read)
      if (lacks(read)) return false;
    if (lacks_operands(statement)) return false;
  }
  need(statement.read, {}, turn);
  return true;
}

// ---- the steps ----

bool Meaning::step(const Step& step) {
  const SequenceTensor& tensor = sequence_.tensor(step.tensor);
  Id id = names_.at(step.tensor);
  double number = double(step.number);
  switch (step.kind) {
    case Step::Kind::Say: say(statement_of(step.text)); return true;
    case Step::Kind::Fill: put(id, array_of(tensor, [&](const auto&) { return number; })); return true;
    case Step::Kind::FillByPlace:
      need({id}, {}, unseen_.size());  // a function may look at the tensor
      put(id, array_of(tensor, [&](const auto& at) { return number + (at.empty() ? 0.0 : double(at[0])); }));
      return true;
    case Step::Kind::FillByOld: {
      if (!has_data(id) || lacks(id)) return false;
      need({id}, {}, unseen_.size());
      DenseArray old = *cells_[id].data;
      put(id, array_of(tensor, [&](const auto& at) { return number + std::get<double>(old.at(at)); }));
      return true;
    }
    case Step::Kind::Pack: put(id, array_of_entries(tensor, step.number)); return true;
    case Step::Kind::Renew:
      names_.at(step.tensor) = fresh(tensor);
      cells_.back().data = array_of_entries(tensor, step.number);
      return true;
    case Step::Kind::Alias: names_.at(step.tensor) = names_.at(step.text); return true;
    case Step::Kind::Look:
      if (!look(step.tensor)) return false;
      need({id}, {}, unseen_.size());
      return true;
    case Step::Kind::Compute: return compute(id);
    case Step::Kind::Compile: return compile(id);
  }
  return false;
}

std::optional<DenseArray> Meaning::look(const std::string& name) const {
  Id id = names_.at(name);
  return lacks(id) ? std::nullopt : cells_[id].data;
}

double Meaning::largest() const {
  double out = 0;
  for (const Cell& cell : cells_)
    if (cell.data)
      for (const Scalar& value : cell.data->values) out = std::max(out, std::abs(std::get<double>(value)));
  return out;
}

}  // namespace spdistal::test
