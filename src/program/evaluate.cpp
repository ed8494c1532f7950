// A statement is read once for tensors of the same types, formats and sizes. It has tensors of its own, named as in the
// text: those given lend them their contents for a run, and the result is moved out afterwards.
#include "spdistal/evaluate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <deque>

#include "api/collective.hpp"
#include "api/session.hpp"
#include "api/waiting.hpp"
#include "compile/print.hpp"
#include "notation/presence.hpp"
#include "program/program_state.hpp"
#include "program/reader.hpp"

namespace spdistal {

using namespace notation;

struct Evaluation::State {
  ProgramText text;
  std::vector<GivenTensor> given;
  StatementState statement;
  std::vector<std::shared_ptr<TensorState>> tensors;

  TensorState& result() const { return *find_tensor(statement.assignment.lhs.tensor); }
  TensorState& named(const std::string& name) const {
    return **std::find_if(tensors.begin(), tensors.end(),
                          [&](const auto& tensor) { return tensor->var.symbol().name() == name; });
  }
};

namespace {

using GivenTensors = std::vector<std::pair<std::string, TensorBase>>;

/// Which factors make a result sparse in their variables: sparse vectors, or any sparse tensor.
enum class Factors : uint8_t { Vectors, All };

// What is left of an expression, as far as is likely, where a sparse factor stores nothing for a value of the variable.
struct LeftWithout {
  const IndexVar& var;
  Factors factors;

  bool never() const { return false; }
  bool always() const { return true; }
  bool both(bool a, bool b) const { return a && b; }
  bool either(bool a, bool b) const { return a || b; }
  bool access(const notation::Access& n) const {
    bool sparse = !n.tensor.format().is_dense() && (factors == Factors::All || n.indices.size() == 1) && uses(n, var);
    return !sparse;
  }
};

bool is_sparse_in(const Expr& expr, const IndexVar& var, Factors factors) {
  LeftWithout sets{var, factors};
  return !PresenceOf(sets)(expr).where;
}

// Is what a result holds where nothing is stored 0, or what an operand holds there? One more than a sparse matrix is a dense one
// to most.
bool stays_absent(const Expr& expr, const Scalar& fill) {
  bool kept = is_zero(fill);
  each<notation::Access>(expr, [&](const notation::Access& a) { kept |= same_number(a.tensor.fill(), fill); });
  return kept;
}

// Matrices times vectors fill their result, most likely; matrices times matrices do not.
Format result_format(const Assignment& assignment) {
  const std::vector<IndexVar>& vars = assignment.lhs.indices;
  Factors factors = vars.size() == 1 ? Factors::Vectors : Factors::All;
  std::optional<Scalar> fill = fill_of(assignment.rhs);
  bool sparse = fill && stays_absent(assignment.rhs, *fill) &&
                std::all_of(vars.begin(), vars.end(),
                            [&](const IndexVar& v) { return is_sparse_in(assignment.rhs, v, factors); });
  std::vector<LevelFormat> levels(vars.size(), sparse ? LevelFormat(Compressed) : LevelFormat(Dense));
  if (sparse && levels.size() > 1) levels[0] = Dense;
  return sparse && !vars.empty() ? Format(levels).filled(*fill) : Format(levels);
}

ScalarType result_type(const Assignment& assignment) {
  if (type_of(assignment.rhs) == ScalarType::Bool) return ScalarType::Bool;
  std::optional<ScalarType> out;
  each<notation::Access>(
      assignment.rhs, [&](const notation::Access& n) { out = out ? promote(*out, n.tensor.type()) : n.tensor.type(); });
  return out.value_or(ScalarType::Float64);
}

bool is_said(const std::vector<std::string>& options, const std::string& name) {
  return std::any_of(options.begin(), options.end(), [&](const std::string& o) { return o.starts_with(name + ":"); });
}

// What nobody said of the result follows from the operands.
ProgramText completed(ProgramText text, const std::vector<GivenTensor>& given) {
  ProgramReader first(text, given);
  Assignment assignment = first.statement().assignment;
  std::string name = assignment.lhs.tensor.symbol().name();
  if (std::any_of(given.begin(), given.end(), [&](const GivenTensor& t) { return t.name == name; })) return text;
  if (!is_said(text.formats, name) && !assignment.lhs.indices.empty())
    text.formats.push_back(fmt::format("{}:{}", name, result_format(assignment).str()));
  if (!is_said(text.types, name)) text.types.push_back(fmt::format("{}:{}", name, name_of(result_type(assignment))));
  return text;
}

void refuse_without_data(const Evaluation::State& state) {
  for (const std::shared_ptr<TensorState>& operand : state.statement.operands) {
    std::string name = operand->var.symbol().name();
    bool there = std::any_of(state.given.begin(), state.given.end(), [&](const auto& t) { return t.name == name; });
    size_t at = state.text.statement.find(name);
    if (!there)
      throw UserError(Diagnostic{fmt::format("there is no tensor '{}'", name),
                                 {{state.text.statement, at, at + name.size()}},
                                 fmt::format("give it with the others: {{\"{}\", …}}", name)});
  }
}

// Statements that were read, the one used last in front.
std::shared_ptr<Evaluation::State> find_or_read(const ProgramText& text, const std::vector<GivenTensor>& given) {
  constexpr size_t most = 64;
  using Known = std::deque<std::shared_ptr<Evaluation::State>>;
  std::shared_ptr<void>& kept = Session::instance().evaluated;
  if (!kept) kept = std::make_shared<Known>();
  Known& known = *static_cast<Known*>(kept.get());
  auto found = std::find_if(known.begin(), known.end(),
                            [&](const auto& state) { return state->text == text && state->given == given; });
  std::shared_ptr<Evaluation::State> out;
  if (found != known.end()) {
    out = *found;
    known.erase(found);
  } else {
    ProgramText whole = completed(text, given);
    ProgramReader reader(whole, given);
    StatementState statement = reader.statement();
    out = std::make_shared<Evaluation::State>(Evaluation::State{text, given, std::move(statement), reader.tensors()});
    refuse_without_data(*out);
    spread_sizes(out->statement.assignment);
  }
  known.push_front(out);
  if (known.size() > most) known.pop_back();
  return out;
}

std::vector<GivenTensor> described(const GivenTensors& tensors) {
  std::vector<GivenTensor> out;
  for (const auto& [name, tensor] : tensors) out.push_back({name, tensor.type(), tensor.format(), tensor.dims()});
  return out;
}

void agree_on_text(const ProgramText& text, const std::vector<GivenTensor>& given) {
  std::vector<std::string> words{text.statement, text.machine.value_or(""), text.schedule};
  for (const auto* options : {&text.formats, &text.types, &text.sizes, &text.distributions})
    words.insert(words.end(), options->begin(), options->end());
  for (const GivenTensor& t : given) {
    words.push_back(fmt::format("{}:{}:{}", t.name, t.format.str(), name_of(t.type)));
    for (int64_t n : t.dims) words.push_back(fmt::format("{}", n));
  }
  Program::agree_on(words);
}

// Operands are lent as long as a run takes.
class Lent {
 public:
  Lent(const Evaluation::State& state, const GivenTensors& tensors) {
    for (const auto& [name, tensor] : tensors) {
      TensorState& own = state.named(name);
      if (&own == &state.result()) continue;
      own.home.emplace(data_of(state_of(tensor)).view());
      lent_.push_back(&own);
    }
  }
  ~Lent() {
    for (TensorState* own : lent_) own->home.reset();
  }
  Lent(const Lent&) = delete;
  Lent& operator=(const Lent&) = delete;

 private:
  std::vector<TensorState*> lent_;
};

// The statement as it was read, once all that it is computed from is there.
std::shared_ptr<Evaluation::State> read(const std::string& statement, const GivenTensors& tensors,
                                        const EvaluateText& how) {
  Session::instance();  // settings that are refused are so before anything else
  ProgramText text{statement, how.formats, how.types, how.sizes, how.machine, how.distributions, how.schedule};
  std::vector<GivenTensor> given = described(tensors);
  agree_on_text(text, given);
  std::shared_ptr<Evaluation::State> state = find_or_read(text, given);
  for (const auto& [name, tensor] : tensors)
    if (name != state->result().var.symbol().name() || state->statement.reads_result)
      waiting().before_look(state_of(tensor));
  return state;
}

// A new tensor with the contents of another, which has none then.
TensorBase moved_out(TensorState& from) {
  std::vector<Extent> extents;
  for (int64_t n : from.home->dims()) extents.emplace_back(n);
  TensorBase out = make_tensor(from.var.symbol().name(), std::move(extents), from.var.format(), from.var.type());
  state_of(out).home = std::exchange(from.home, std::nullopt);
  return out;
}

}  // namespace

std::string Evaluation::statement() const {
  Printer names;
  return print_statement(state_->statement, names);
}
std::string Evaluation::kernel() const { return state_->statement.execution->kernel(); }
std::string Evaluation::plan() const {
  return collectively([&] { return state_->statement.execution->plan(); });
}
Report Evaluation::report() const {
  return collectively([&] { return state_->statement.execution->report(); });
}

Evaluation evaluate(const std::string& statement, const GivenTensors& tensors, const EvaluateText& how) {
  return collectively([&] {
    std::shared_ptr<Evaluation::State> state = read(statement, tensors, how);
    TensorState& result = state->result();
    auto target = std::find_if(tensors.begin(), tensors.end(),
                               [&](const auto& t) { return t.first == result.var.symbol().name(); });
    Lent lent(*state, tensors);
    result.home.reset();
    if (target == tensors.end()) {
      run(result, state->statement);
      return Evaluation(state, moved_out(result));
    }
    TensorState& into = state_of(target->second);
    waiting().before_change(into);
    if (state->statement.reads_result) result.home.emplace(data_of(into).view());
    run(result, state->statement);
    set_home(into, *std::exchange(result.home, std::nullopt));
    return Evaluation(state, target->second);
  });
}

Tuned tune(const std::string& statement, const GivenTensors& tensors, const EvaluateText& how,
           const TuneOptions& options) {
  return collectively([&] {
    std::shared_ptr<Evaluation::State> state = read(statement, tensors, how);
    Lent lent(*state, tensors);
    TensorState& result = state->result();
    Tuned out = tune(result, state->statement, options);
    result.home.reset();
    return out;
  });
}

}  // namespace spdistal
