// Data of tensors, and computing statements from it.
#include <fmt/format.h>

#include <mutex>
#include <unordered_map>

#include "base/text.hpp"
#include "driver/session.hpp"
#include "driver/state.hpp"
#include "notation/check.hpp"
#include "notation/concretize.hpp"
#include "notation/races.hpp"
#include "schedule/apply.hpp"
#include "schedule/extents.hpp"
#include "tensor/pack.hpp"

namespace spdistal {

using namespace notation;

namespace {

struct Registry {
  std::mutex mutex;
  std::unordered_map<Symbol, std::weak_ptr<TensorState>> tensors;
};
Registry& registry() {
  static Registry all;
  return all;
}

// All widths of the operands' index arrays: a kernel is for one combination.
std::string widths_of(const Storages& storages) {
  std::string out;
  for (const auto& [tensor, stored] : storages)
    for (const LevelArrays& level : stored->pattern().levels())
      out += fmt::format("{}{}", int(level.pos.width()), int(level.crd.width()));
  return out;
}

// Adds converted operands, made anew where the original has changed.
void add_copies(StatementState& statement, TensorState& result, Storages& storages) {
  bool first = !statement.chosen;
  if (first) statement.chosen = choose(statement);
  auto version_of = [&](const TensorVar& tensor) {
    if (tensor == result.var) return result.version;
    return find_tensor(tensor)->version;
  };
  for (const Conversion& c : first ? statement.chosen->conversions : std::vector<Conversion>{})
    statement.copies.push_back({c, version_of(c.from), convert(*storages.at(c.from), c.to.format())});
  for (StatementState::Copy& copy : statement.copies) {
    const TensorVar& from = copy.conversion.from;
    if (copy.version != version_of(from)) {
      copy.storage = convert(*storages.at(from), copy.conversion.to.format());
      copy.version = version_of(from);
    }
    storages.emplace(copy.conversion.to, &copy.storage);
  }
}

// Does the statement need what its result held before?
bool reads_own_result(const StatementState& statement) {
  bool reads = statement.scheduled.start == Start::Old;
  each<notation::Access>(statement.assignment.rhs,
                         [&](const notation::Access& a) { reads |= a.tensor == statement.assignment.lhs.tensor; });
  return reads;
}

void compute_one(TensorState& tensor, StatementState& statement);

// Computes what was said before a statement and bears on it: its operands as they were meant, the old result where it is
// read, and those who read the old result.
void compute_earlier(TensorState& tensor, StatementState& statement) {
  std::vector<std::shared_ptr<StatementState>> chain;
  for (auto s = statement.previous; s && !s->computed; s = s->previous) chain.push_back(s);
  for (size_t k = chain.size(); k-- > 0;) compute_one(tensor, *chain[k]);
  for (size_t k = 0; k < statement.operand_versions.size(); k++)
    if (auto& version = statement.operand_versions[k]; version && !version->computed)
      compute_one(*statement.operands[k], *version);
  for (const auto& [reader, waiting] : statement.readers) {
    std::shared_ptr<TensorState> result = reader.lock();
    std::shared_ptr<StatementState> said = waiting.lock();
    if (result && said && result->current == said && !said->computed) compute_one(*result, *said);
  }
}

// What the operands are; those with statements of their own were computed first. A statement that is computed for the
// first time does not see what was said after it.
const Storage& operand_of(StatementState& statement, size_t k, bool first) {
  TensorState& operand = *statement.operands[k];
  bool later = k < statement.operand_versions.size() && operand.current != statement.operand_versions[k];
  return first && later && operand.storage ? *operand.storage : data_of(operand);
}

Storages operands_of(TensorState& result, StatementState& statement, bool first) {
  Storages out;
  for (size_t k = 0; k < statement.operands.size(); k++)
    out.emplace(statement.operands[k]->var, &operand_of(statement, k, first));
  // What the result held before: read by the statement, or added to.
  if (reads_own_result(statement)) {
    if (!result.storage) {
      std::vector<int64_t> dims;
      for (const Extent& extent : result.var.dims())
        if (extent.value()) dims.push_back(*extent.value());
      if (dims.size() == result.var.order())
        result.storage = pack(Coordinates(dims, result.var.type()), result.var.format());
    }
    if (!result.storage)
      throw UserError(fmt::format("{} is read by its own statement but holds nothing", shown(result.var)),
                      "give it data first: insert and pack, read, or fill");
    out.emplace(result.var, &*result.storage);
  }
  add_copies(statement, result, out);
  return out;
}

void check_sizes(const StatementState& statement) {
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
}

// What a schedule asks for that this build does in a plainer way: right, but slower than hoped for.
void note_what_is_not_followed(const ConcreteStatement& statement) {
  bool gpu = false, leaf = false, distributed = false;
  each<Forall>(statement.body, [&](const Forall& loop) {
    gpu |= loop.tags.parallel && loop.tags.parallel->unit >= Unit::GPUBlock;
    leaf |= !loop.tags.leaf.empty();
    distributed |= loop.tags.place == Place::Distributed;
  });
  std::vector<std::string>& notes = Session::instance().notes;
  auto note = [&](bool applies, const char* text) {
    if (applies && std::find(notes.begin(), notes.end(), text) == notes.end()) notes.push_back(text);
  };
  note(gpu, "loops over GPU units run on the CPU, one iteration after the other");
  note(leaf, "substitute is not followed: the loops run as generated code");
  note(distributed, "distributed loops run in this process, one piece after the other");
}

// Is every element of an expression other than zero, as far as storage tells?
bool is_full(const Expr& expr) {
  return match(
      expr, [](const notation::Access& n) { return n.tensor.format().is_dense(); }, [](const Literal&) { return true; },
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

void compile_for(StatementState& statement, const Storages& storages) {
  std::string widths = widths_of(storages);
  if (statement.compiled && statement.compiled->widths == widths) return;
  note_what_is_not_followed(statement.scheduled);
  note_full_result(statement.assignment);
  Leaf leaf(statement.chosen->statement, storages);
  codegen::Kernel kernel = Session::instance().jit.load(leaf.function());
  statement.compiled.emplace(StatementState::Compiled{std::move(leaf), std::move(kernel), std::move(widths)});
}

void compute_one(TensorState& tensor, StatementState& statement) {
  bool first = !statement.computed;
  if (first) compute_earlier(tensor, statement);
  statement.computed = true;  // a statement that reads its own result does not start over
  try {
    Storages storages = operands_of(tensor, statement, first);
    check_sizes(statement);
    compile_for(statement, storages);
    const StatementState::Compiled& compiled = *statement.compiled;
    // What nobody reads any more makes room for what comes: the same memory, mapped and often still in a cache.
    if (!storages.contains(tensor.var)) tensor.storage.reset();
    tensor.storage =
        compiled.leaf.compute(storages, Session::instance().context, [&](spd_call& call) { compiled.kernel(call); });
    tensor.version++;
  } catch (...) {
    statement.computed = !first;
    throw;
  }
  // Nothing of the past is needed again.
  statement.previous.reset();
  statement.operand_versions.clear();
  statement.readers.clear();
}

StatementState& current_statement(TensorState& tensor) {
  if (!tensor.current)
    throw UserError(fmt::format("{} has no statement to compute", shown(tensor.var)),
                    "assign to it first: a(i) = B(i, j) * c(j)");
  return *tensor.current;
}

}  // namespace

std::string shown(const TensorVar& tensor) {
  return tensor.symbol().name().empty() ? "the tensor" : tensor.symbol().name();
}

void remember(const std::shared_ptr<TensorState>& tensor) {
  std::lock_guard lock(registry().mutex);
  registry().tensors[tensor->var.symbol()] = tensor;
}

std::shared_ptr<TensorState> find_tensor(const TensorVar& var) {
  std::lock_guard lock(registry().mutex);
  auto found = registry().tensors.find(var.symbol());
  return found == registry().tensors.end() ? nullptr : found->second.lock();
}

ConcreteStatement over_threads(const ConcreteStatement& statement) {
  const Forall* outer = statement.body.as<Forall>();
  if (!outer) return statement;
  Result<ConcreteStatement> parallel = schedule::apply(Parallelize{outer->var, CPUThread, NoRaces}, statement);
  ConcreteStatement out = parallel ? *parallel : statement;
  // An innermost loop that sums over a dense range sums in vectors; over sparse ones the command has no effect.
  IndexVar inner = outer_loops(out.body).back().var;
  if (inner == outer->var || !find_race(out, inner)) return out;
  Result<ConcreteStatement> vectors = schedule::apply(Parallelize{inner, CPUVector, Race::Auto}, out);
  return vectors ? *vectors : out;
}

Chosen choose(const StatementState& statement) {
  if (!statement.commands.empty()) return {statement.scheduled, {}};
  Converted converted = insert_conversions(statement.assignment);
  if (converted.conversions.empty()) return {over_threads(statement.scheduled), {}};
  return {over_threads(concretize(converted.assignment).value()), converted.conversions};
}

void set_storage(TensorState& tensor, Storage storage) {
  const std::vector<Extent>& extents = tensor.var.dims();
  for (size_t d = 0; d < extents.size(); d++) {
    int64_t size = storage.dims()[d];
    if (auto known = extents[d].value(); known && *known != size)
      throw UserError(fmt::format("the {} dimension of {} is {}, that of the data {}", ordinal(d), shown(tensor.var),
                                  *known, size));
    if (const Param* param = extents[d].param(); param && !param->value()) Param(*param).bind(size);
  }
  tensor.storage = std::move(storage);
  tensor.version++;
  tensor.inserted.reset();
  // What was said before the data came no longer waits to be computed.
  if (tensor.current) tensor.current->computed = true;
}

const Storage& data_of(TensorState& tensor) {
  if (tensor.current && !tensor.current->computed) compute(tensor);
  if (!tensor.storage)
    throw UserError(tensor.inserted ? fmt::format("{} has entries that were inserted but not packed", shown(tensor.var))
                                    : fmt::format("{} holds no data", shown(tensor.var)),
                    tensor.inserted ? "call pack() after the last insert" : "insert and pack, read, or fill it");
  return *tensor.storage;
}

void record(TensorState& tensor, const std::shared_ptr<StatementState>& statement) {
  if (tensor.current && !tensor.current->computed && reads_own_result(*statement)) statement->previous = tensor.current;
  statement->readers = std::move(tensor.readers);
  tensor.readers.clear();
  if (tensor.current && !tensor.current->computed)
    statement->readers.insert(statement->readers.end(), tensor.current->readers.begin(), tensor.current->readers.end());
  for (const std::shared_ptr<TensorState>& operand : statement->operands) {
    statement->operand_versions.push_back(operand->current);
    std::erase_if(operand->readers, [](const auto& reader) {
      std::shared_ptr<StatementState> waiting = reader.second.lock();
      return !waiting || waiting->computed;
    });
    operand->readers.emplace_back(tensor.weak_from_this(), statement);
  }
  tensor.current = statement;
}

void compile(TensorState& tensor) {
  StatementState& statement = current_statement(tensor);
  Storages storages = operands_of(tensor, statement, !statement.computed);
  check_sizes(statement);
  compile_for(statement, storages);
}

void compute(TensorState& tensor) {
  std::shared_ptr<StatementState> keep = tensor.current;
  compute_one(tensor, current_statement(tensor));
}

}  // namespace spdistal
