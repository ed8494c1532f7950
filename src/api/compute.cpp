// Data of tensors, and computing statements from it.
#include <fmt/format.h>

#include <mutex>
#include <unordered_map>

#include "api/session.hpp"
#include "api/state.hpp"
#include "api/waiting.hpp"
#include "base/text.hpp"
#include "compile/homes.hpp"
#include "io/files.hpp"
#include "notation/check.hpp"
#include "reference/arithmetic.hpp"
#include "runtime/transport/agree.hpp"
#include "schedule/extents.hpp"
#include "schedule/print.hpp"
#include "tensor/distribute.hpp"
#include "tensor/pack.hpp"

namespace spdistal {

using namespace notation;

namespace {

struct Registry {
  std::mutex mutex;
  std::unordered_map<Symbol, std::weak_ptr<TensorState>> tensors;
};
Registry& registry() {
  static Registry& all = *new Registry;  // tensors may go after all else has gone
  return all;
}

runtime::Transport& transport() { return Session::instance().transport(); }

// The same text for statements that say the same of the same tensors with the same schedule, numbers of the host aside.
std::string key_of(const StatementState& statement) {
  Printer names(ArgumentText::Name);
  std::string key = names(statement.assignment) + "\n" + names(statement.scheduled);
  for (const TensorVar& tensor : tensors(statement.assignment))
    key += fmt::format("\n{} {}", names.name(tensor), std::hash<Symbol>{}(tensor.symbol()));
  for (const Command& command : statement.commands) key += "\n" + schedule::print(command, names);
  return key;
}

void find_prepared(TensorState& result, StatementState& statement) {
  if (statement.prepared) return;
  // Of statements about tensors that come and go, not all are worth keeping.
  if (result.prepared.size() > 16) result.prepared.clear();
  std::shared_ptr<Prepared>& found = result.prepared[key_of(statement)];
  if (!found) found = std::make_shared<Prepared>();
  statement.prepared = found;
}

// Numbers of pieces that nobody gave are the number of ranks.
void bind_pieces(const ConcreteStatement& statement) {
  auto look = [](const IndexExpr& expr) {
    each<notation::Number>(expr, [](const notation::Number& n) {
      if (n.value.grid_dim()) bind_machine(Machine(n.value.grid_dim()->machine()), transport().size());
      else if (const Param* param = n.value.extent().param(); param && !param->value())
        Param(*param).bind(transport().size());
    });
  };
  for (const Relation& relation : statement.provenance.relations) {
    for (const Replaced& r : relation.replaced) look(r.value);
    for (const Made& m : relation.made) look(m.size);
  }
}

// What a schedule asks for that this build does in a plainer way: right, but slower than hoped for.
void note_what_is_not_followed(const ConcreteStatement& statement) {
  bool gpu = false, leaf = false;
  each<Forall>(statement.body, [&](const Forall& loop) {
    gpu |= loop.tags.parallel && loop.tags.parallel->unit >= Unit::GPUBlock;
    leaf |= !loop.tags.leaf.empty();
  });
  std::vector<std::string>& notes = Session::instance().notes;
  auto note = [&](bool applies, const char* text) {
    if (applies && std::find(notes.begin(), notes.end(), text) == notes.end()) notes.push_back(text);
  };
  note(gpu, "loops over GPU units run on the CPU, one iteration after the other");
  note(leaf, "substitute is not followed: the loops run as generated code");
}

// Is every element of an expression other than zero, as far as storage tells?
bool is_full(const Expr& expr) {
  return match(
      expr, [](const notation::Access& n) { return n.tensor.format().is_dense(); },
      [](const Literal& n) { return !reference::is_zero(n.value); }, [](const Argument&) { return true; },
      [](const Neg& n) { return is_full(n.a); },
      [](const Binary& n) {
        if (n.op == BinaryOp::Mul) return is_full(n.a) && is_full(n.b);
        return is_full(n.a) || (n.op != BinaryOp::Div && is_full(n.b));
      },
      [](const Call& n) { return std::any_of(n.args.begin(), n.args.end(), is_full); },
      [](const Sum& n) { return is_full(n.body); });
}

// A sparse result with every element stored is right, and larger than the dense one.
void note_full_result(const Assignment& assignment) {
  const TensorVar& result = assignment.lhs.tensor;
  if (result.format().is_dense() || !is_full(assignment.rhs)) return;
  Expr part = assignment.rhs;
  while (const Binary* sum = part.as<Binary>()) {
    if (sum->op != BinaryOp::Add && sum->op != BinaryOp::Sub) break;
    part = is_full(sum->a) ? sum->a : sum->b;
  }
  Printer names;
  names(assignment);
  Session::instance().notes.push_back(
      fmt::format("{} is sparse, but {} is dense and gives every element a value: the format {} takes less room",
                  names.name(result), names(part), dense_format(result.order()).str()));
}

// Chooses what runs, once.
void choose_once(StatementState& statement, const Homes& homes) {
  Prepared& prepared = *statement.prepared;
  if (prepared.chosen) return;
  agree_on(transport(), statement);
  note_what_is_not_followed(statement.scheduled);
  note_full_result(statement.assignment);
  prepared.chosen = choose(Session::instance(), statement, pieces_of(statement, transport().size()), homes);
  prepared.runner.emplace(Session::instance(), prepared.chosen->statement);
  for (const Conversion& conversion : prepared.chosen->conversions)
    prepared.copies.push_back({conversion.from, Runner(Session::instance(), conversion.statement)});
  bind_pieces(prepared.chosen->statement);
}

// Adds converted operands, made anew where the original has changed.
void add_copies(Prepared& prepared, Homes& homes) {
  for (Prepared::Copy& copy : prepared.copies) {
    const Home& original = *homes.at(copy.from);
    const TensorVar& to = copy.runner.statement().result;
    if (!copy.home || copy.version != original.version()) {
      copy.runner.compute({{copy.from, &original}}, homes_of(to, transport().size()), copy.home);
      copy.version = original.version();
    }
    homes.emplace(to, &*copy.home);
  }
}

// Of what a statement reads: its operands, copies of them, and what the result held before. Where that is nothing, zeros
// are made in `own`.
Homes operands_of(TensorState& result, StatementState& statement, std::optional<Home>& own) {
  Homes out;
  for (const std::shared_ptr<TensorState>& operand : statement.operands) out.emplace(operand->var, &home_of(*operand));
  if (statement.reads_result) {
    if (result.failure) std::rethrow_exception(result.failure);
    if (!own && has_sizes(result.var))
      own = pack(transport(), Coordinates(known_dims(result.var), result.var.type()), result.var.format(),
                 shares_of(result));
    if (!own)
      throw UserError(fmt::format("{} is read by its own statement but holds nothing", shown(result.var)),
                      "give it data first: insert and pack, read, or fill");
    out.emplace(result.var, &*own);
  }
  find_prepared(result, statement);
  choose_once(statement, out);
  add_copies(*statement.prepared, out);
  return out;
}

}  // namespace

bool has_sizes(const TensorVar& tensor) {
  return std::all_of(tensor.dims().begin(), tensor.dims().end(), [](const Extent& e) { return e.value().has_value(); });
}

void check_sizes(StatementState& statement) {
  std::vector<int64_t> sizes;
  for (const TensorVar& tensor : tensors(statement.assignment))
    for (const Extent& extent : tensor.dims()) sizes.push_back(extent.value().value_or(-1));
  bool known = std::find(sizes.begin(), sizes.end(), -1) == sizes.end();
  if (known && !sizes.empty() && sizes == statement.prepared->sizes) return;
  Printer print;
  print(statement.assignment);
  auto look = [&](const notation::Access& access) {
    for (size_t d = 0; d < access.tensor.order(); d++)
      if (!access.tensor.dims()[d].value())
        throw UserError(Diagnostic{
            fmt::format("the {} dimension of {} has no size yet", ordinal(d), print.name(access.tensor)),
            {print.excerpt(statement.assignment, [&](const notation::Access& a) { return a.tensor == access.tensor; })},
            "bind its Param (n = 1000), or read data that has the size"});
  };
  look(statement.assignment.lhs);
  each<notation::Access>(statement.assignment.rhs, look);
  infer_extents(statement.assignment).value();
  schedule::check_extents(statement.scheduled).value();
  const Provenance& provenance = statement.scheduled.provenance;
  for (const Requirement& r : provenance.requirements) {
    int64_t size = *provenance.root(r.var)->size.value();
    bool holds = r.kind == Requirement::Kind::Equal ? size == r.size : size <= r.size;
    if (!holds)
      throw UserError(fmt::format("bound: {} has {} values, {} {}", print.name(r.var), size,
                                  r.kind == Requirement::Kind::Equal ? "not" : "more than", r.size));
  }
  statement.prepared->sizes = std::move(sizes);
}

std::shared_ptr<StatementState> current_statement(const TensorState& tensor) {
  if (!tensor.current)
    throw UserError(fmt::format("{} has no statement to compute", shown(tensor.var)),
                    "assign to it first: a(i) = B(i, j) * c(j)");
  return tensor.current;
}

std::shared_ptr<TensorState> remembered(std::shared_ptr<TensorState> tensor) {
  std::lock_guard lock(registry().mutex);
  registry().tensors[tensor->var.symbol()] = tensor;
  return tensor;
}

TensorState::~TensorState() {
  std::lock_guard lock(registry().mutex);
  registry().tensors.erase(var.symbol());
}

std::shared_ptr<TensorState> find_tensor(const TensorVar& var) {
  std::lock_guard lock(registry().mutex);
  auto found = registry().tensors.find(var.symbol());
  return found == registry().tensors.end() ? nullptr : found->second.lock();
}

void set_sizes(TensorState& tensor, const std::vector<int64_t>& dims) {
  const std::vector<Extent>& extents = tensor.var.dims();
  for (size_t d = 0; d < extents.size(); d++) {
    if (auto known = extents[d].value(); known && *known != dims[d])
      throw UserError(fmt::format("the {} dimension of {} is {}, that of the data {}", ordinal(d), shown(tensor.var),
                                  *known, dims[d]));
    if (const Param* param = extents[d].param(); param && !param->value()) Param(*param).bind(dims[d]);
  }
}

const Shares& shares_of(TensorState& tensor) {
  std::vector<int64_t> dims = known_dims(tensor.var);
  // What has other sizes than before lives elsewhere, and what it held is of no use.
  if (!tensor.shares || tensor.shares_for != dims) {
    tensor.shares = homes_of(tensor.var, transport().size());
    if (tensor.home && tensor.home->dims() != dims) tensor.home.reset();
    tensor.shares_for = std::move(dims);
  }
  return *tensor.shares;
}

void set_home(TensorState& tensor, Home home) {
  waiting().replaced(tensor);
  tensor.home = std::move(home);
  tensor.inserted.reset();
  tensor.inserted_by = Inserted::Nothing;
}

const Home& home_of(const TensorState& tensor) {
  if (tensor.failure) std::rethrow_exception(tensor.failure);
  if (!tensor.home)
    throw UserError(tensor.inserted ? fmt::format("{} has entries that were inserted but not packed", shown(tensor.var))
                                    : fmt::format("{} holds no data", shown(tensor.var)),
                    tensor.inserted ? "call pack() after the last insert" : "insert and pack, read, or fill it");
  return *tensor.home;
}

const Home& data_of(TensorState& tensor) {
  waiting().before_look(tensor);
  return home_of(tensor);
}

const Storage& whole_of(TensorState& tensor) {
  const Home& home = data_of(tensor);
  if (transport().size() == 1 && home.shares().of.size() == 1) return home.piece(0);
  if (!tensor.whole || tensor.whole_version != home.version()) {
    tensor.whole = pack(gather(transport(), home), home.format());
    tensor.whole_version = home.version();
  }
  return *tensor.whole;
}

// Conversions have kernels of their own, which run first.
std::string kernel_text(const StatementState& statement) {
  const Prepared& prepared = *statement.prepared;
  if (prepared.copies.empty()) return prepared.runner->kernel();
  Printer names(ArgumentText::Name);
  names(prepared.runner->statement());
  std::string out;
  auto add = [&](const Runner& runner) {
    each<Assign>(runner.statement().body, [&](const Assign& assign) {
      if (assign.lhs.tensor != runner.statement().result) return;
      out += fmt::format("{}// {}\n{}", out.empty() ? "" : "\n", names(Assignment{assign.lhs, assign.op, assign.rhs}),
                         runner.kernel());
    });
  };
  for (const Prepared::Copy& copy : prepared.copies) add(copy.runner);
  add(*prepared.runner);
  return out;
}

std::string plan_text(const StatementState& statement) {
  Printer names(ArgumentText::Name);
  std::string out;
  if (!statement.prepared->chosen->commands.empty()) {
    names(statement.prepared->chosen->statement);
    out = fmt::format("schedule\n{}\n  because {}\n\n",
                      indent(join(statement.prepared->chosen->commands, "\n",
                                  [&](const Command& c) { return schedule::print(c, names); }),
                             2),
                      statement.prepared->chosen->reason);
  }
  return out + "plan\n" + indent(plan::print(statement.prepared->runner->plan(names)), 2);
}

std::string report_text(const StatementState& statement) { return statement.prepared->runner->report(); }

void prepare(TensorState& result, StatementState& statement) {
  std::optional<Home> zeros;
  Homes homes = operands_of(result, statement, result.home ? result.home : zeros);
  check_sizes(statement);
  statement.prepared->runner->prepare(homes, shares_of(result));
}

void run(TensorState& result, StatementState& statement) {
  Homes homes = operands_of(result, statement, result.home);
  check_sizes(statement);
  statement.prepared->runner->compute(homes, shares_of(result), result.home, statement.arguments);
}

}  // namespace spdistal
