// Data of tensors, and computing statements from it.
#include <fmt/format.h>

#include "api/session.hpp"
#include "api/state.hpp"
#include "api/waiting.hpp"
#include "base/hash.hpp"
#include "base/text.hpp"
#include "compile/check.hpp"
#include "execute/move/window.hpp"
#include "notation/check.hpp"
#include "schedule/print.hpp"
#include "tensor/distribute.hpp"
#include "tensor/pack.hpp"

namespace spdistal {

using namespace notation;

namespace {

// The same text for statements that say the same of the same tensors with the same schedule, numbers of the host aside.
std::string key_of(const StatementState& statement) {
  Printer names(ArgumentText::Name);
  std::string key = names(statement.assignment) + "\n" + names(statement.scheduled);
  for (const TensorVar& tensor : tensors(statement.assignment))
    key += fmt::format("\n{} {}", names.name(tensor), std::hash<Symbol>{}(tensor.symbol()));
  for (const Command& command : statement.commands) key += "\n" + schedule::print(command, names);
  // How many values variables of open windows have follows from all sizes.
  if (!windows(statement.assignment).empty())
    for (const TensorVar& tensor : tensors(statement.assignment))
      for (const Extent& extent : tensor.dims()) key += fmt::format(" {}", extent.value().value_or(-1));
  return key;
}

// Collective. What runs the statement: found, or compiled now.
Execution& execution_of(TensorState& result, StatementState& statement, const Homes& operands) {
  if (!statement.execution) {
    // Of statements about tensors that come and go, not all are worth keeping.
    if (result.executions.size() > 16) result.executions.clear();
    std::shared_ptr<Execution>& found = result.executions[key_of(statement)];
    if (!found) {
      infer_extents(statement.assignment).value();  // sizes that do not fit are refused as they were said
      found = std::make_shared<Execution>(Session::instance(), compile(Session::instance(), statement, operands));
    }
    statement.execution = found;
  }
  check_sizes(statement, statement.execution->compiled().fitting);
  return *statement.execution;
}

// Numbers of the host come with each run: whoever looks at what they gave, or plans something, finds ranks that differ in them.
void say_numbers(const StatementState& statement) {
  if (statement.arguments.empty() || transport().size() == 1) return;
  Hasher hash;
  for (const Scalar& number : statement.arguments)
    std::visit([&](auto v) { hash.bytes(reinterpret_cast<const std::byte*>(&v), sizeof v); },
               static_cast<const ScalarVariant&>(number));
  transport().said().add(hash.value(), [assignment = statement.assignment] { return Printer()(assignment); });
}

bool reads(const Assignment& assignment, const TensorVar& tensor) {
  bool found = assignment.op != AssignOp::Set;
  each<notation::Access>(assignment.rhs, [&](const notation::Access& a) { found |= a.tensor == tensor; });
  return found;
}

// Of what a statement reads: its operands, and what the result held before. Where that is nothing, zeros
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
    if (reads(computed(statement), result.var)) out.emplace(result.var, &*own);
  }
  return out;
}

// Where the result of the loops lives: in the place of the tensor that is assigned to, or, of what goes into a window of it,
// anywhere.
Shares target_of(TensorState& result, const StatementState& statement, Execution& execution) {
  return statement.part ? homes_of(execution.compiled().loops().result, transport().size()) : shares_of(result);
}

}  // namespace

bool has_sizes(const TensorVar& tensor) {
  return std::all_of(tensor.dims().begin(), tensor.dims().end(), [](const Extent& e) { return e.value().has_value(); });
}

std::shared_ptr<StatementState> current_statement(const TensorState& tensor) {
  if (!tensor.current)
    throw UserError(fmt::format("{} has no statement to compute", shown(tensor.var)),
                    "assign to it first: a(i) = B(i, j) * c(j)");
  return tensor.current;
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

void prepare(TensorState& result, StatementState& statement) {
  std::optional<Home> zeros;
  Homes operands = operands_of(result, statement, result.home ? result.home : zeros);
  Execution& execution = execution_of(result, statement, operands);
  execution.prepare(std::move(operands), target_of(result, statement, execution));
}

void run(TensorState& result, StatementState& statement) {
  say_numbers(statement);
  if (!result.home && !result.failure) check_beginning(statement);
  Homes operands = operands_of(result, statement, result.home);
  Execution& execution = execution_of(result, statement, operands);
  if (!statement.part)
    return execution.compute(std::move(operands), shares_of(result), result.home, statement.arguments);
  std::optional<Home> part;
  execution.compute(std::move(operands), target_of(result, statement, execution), part, statement.arguments);
  if (result.home->is_borrowed()) result.home = result.home->clone(transport());
  assign_window(transport(), *part, statement.assignment, *result.home);
}

}  // namespace spdistal
