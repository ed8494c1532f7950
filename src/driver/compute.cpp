// Data of tensors, and computing statements from it.
#include <fmt/format.h>

#include <mutex>
#include <unordered_map>

#include "base/text.hpp"
#include "driver/session.hpp"
#include "driver/state.hpp"
#include "notation/check.hpp"
#include "notation/races.hpp"
#include "schedule/apply.hpp"
#include "tensor/pack.hpp"

namespace spdistal {

using namespace notation;

namespace {

std::string shown(const TensorVar& tensor) {
  return tensor.symbol().name().empty() ? "the tensor" : tensor.symbol().name();
}

struct Registry {
  std::mutex mutex;
  std::unordered_map<Symbol, std::weak_ptr<TensorState>> tensors;
};
Registry& registry() {
  static Registry all;
  return all;
}

// All widths of the operands' index arrays: a kernel is for one combination.
std::string widths_of(const StatementState& statement, const Storages& storages) {
  std::string out;
  for (const TensorVar& tensor : tensors(statement.assignment))
    if (auto stored = storages.find(tensor); stored != storages.end())
      for (const LevelArrays& level : stored->second->pattern().levels())
        out += fmt::format("{}{}", int(level.pos.width()), int(level.crd.width()));
  return out;
}

// What the operands are now; operands with statements of their own are computed first.
Storages operands_of(TensorState& result, StatementState& statement) {
  Storages out;
  for (const std::shared_ptr<TensorState>& operand : statement.operands) out.emplace(operand->var, &data_of(*operand));
  // What the result held before: read by the statement, or added to.
  bool reads = statement.scheduled.start == Start::Old;
  each<notation::Access>(statement.assignment.rhs, [&](const notation::Access& a) { reads |= a.tensor == result.var; });
  if (reads) {
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
  const Provenance& provenance = statement.scheduled.provenance;
  for (const Requirement& r : provenance.requirements) {
    int64_t size = *provenance.root(r.var)->size.value();
    bool holds = r.kind == Requirement::Kind::Equal ? size == r.size : size <= r.size;
    if (!holds)
      throw UserError(fmt::format("bound: {} has {} values, {} {}", print.name(r.var), size,
                                  r.kind == Requirement::Kind::Equal ? "not" : "more than", r.size));
  }
}

void compile_for(StatementState& statement, const Storages& storages) {
  std::string widths = widths_of(statement, storages);
  if (statement.compiled && statement.compiled->widths == widths) return;
  Leaf leaf(with_default_schedule(statement), storages);
  codegen::Kernel kernel = Session::instance().jit.load(leaf.function());
  statement.compiled.emplace(StatementState::Compiled{std::move(leaf), std::move(kernel), std::move(widths)});
}

StatementState& current_statement(TensorState& tensor) {
  if (!tensor.current)
    throw UserError(fmt::format("{} has no statement to compute", shown(tensor.var)),
                    "assign to it first: a(i) = B(i, j) * c(j)");
  return *tensor.current;
}

}  // namespace

void remember(const std::shared_ptr<TensorState>& tensor) {
  std::lock_guard lock(registry().mutex);
  registry().tensors[tensor->var.symbol()] = tensor;
}

std::shared_ptr<TensorState> find_tensor(const TensorVar& var) {
  std::lock_guard lock(registry().mutex);
  auto found = registry().tensors.find(var.symbol());
  return found == registry().tensors.end() ? nullptr : found->second.lock();
}

ConcreteStatement with_default_schedule(const StatementState& statement) {
  const Forall* outer = statement.scheduled.body.as<Forall>();
  if (!statement.commands.empty() || !outer) return statement.scheduled;
  Result<ConcreteStatement> parallel =
      schedule::apply(Parallelize{outer->var, CPUThread, NoRaces}, statement.scheduled);
  ConcreteStatement out = parallel ? *parallel : statement.scheduled;
  // An innermost loop that sums over a dense range sums in vectors; over sparse ones the command has no effect.
  IndexVar inner = outer_loops(out.body).back().var;
  if (inner == outer->var || !find_race(out, inner)) return out;
  Result<ConcreteStatement> vectors = schedule::apply(Parallelize{inner, CPUVector, Race::Auto}, out);
  return vectors ? *vectors : out;
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
  tensor.inserted.reset();
}

const Storage& data_of(TensorState& tensor) {
  if (tensor.current && !tensor.current->computed) compute(tensor);
  if (!tensor.storage)
    throw UserError(tensor.inserted ? fmt::format("{} has entries that were inserted but not packed", shown(tensor.var))
                                    : fmt::format("{} holds no data", shown(tensor.var)),
                    tensor.inserted ? "call pack() after the last insert" : "insert and pack, read, or fill it");
  return *tensor.storage;
}

void compile(TensorState& tensor) {
  StatementState& statement = current_statement(tensor);
  Storages storages = operands_of(tensor, statement);
  check_sizes(statement);
  compile_for(statement, storages);
}

void compute(TensorState& tensor) {
  std::shared_ptr<StatementState> keep = tensor.current;
  StatementState& statement = current_statement(tensor);
  statement.computed = true;  // a statement that reads its own result does not start over
  try {
    Storages storages = operands_of(tensor, statement);
    check_sizes(statement);
    compile_for(statement, storages);
    const StatementState::Compiled& compiled = *statement.compiled;
    // What nobody reads any more makes room for what comes: the same memory, mapped and often still in a cache.
    if (!storages.contains(tensor.var)) tensor.storage.reset();
    tensor.storage =
        compiled.leaf.compute(storages, Session::instance().context, [&](spd_call& call) { compiled.kernel(call); });
  } catch (...) {
    statement.computed = false;
    throw;
  }
}

}  // namespace spdistal
