#include "compile/check.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.hpp"
#include "compile/homes.hpp"
#include "machine/print.hpp"
#include "notation/arithmetic.hpp"
#include "notation/check.hpp"
#include "notation/presence.hpp"
#include "notation/print.hpp"
#include "runtime/transport/agree.hpp"
#include "schedule/extents.hpp"
#include "schedule/print.hpp"

namespace spdistal {

using namespace notation;

namespace {

// Every element or not, as far as storage tells.
struct Fullness : TruthSets {
  bool access(const notation::Access& n) const { return n.tensor.format().is_dense(); }
};

// Has every element of an expression a value of its own?
bool is_full(const Expr& expr, const Scalar& fill) {
  Fullness sets;
  return PresenceOf(sets).other_than(expr, fill);
}

// A sparse result with every element stored is right, and larger than the dense one.
void note_full_result(std::vector<std::string>& notes, const Assignment& assignment) {
  const TensorVar& result = assignment.lhs.tensor;
  if (result.format().is_dense() || !is_full(assignment.rhs, result.fill())) return;
  Expr part = assignment.rhs;
  while (const Binary* sum = part.as<Binary>()) {
    if (sum->op != BinaryOp::Add && sum->op != BinaryOp::Sub) break;
    part = is_full(sum->a, result.fill()) ? sum->a : sum->b;
  }
  Printer names;
  names(assignment);
  notes.push_back(
      fmt::format("{} is sparse, but {} is dense and gives every element a value: the format {} takes less room",
                  names.name(result), names(part), dense_format(result.order()).str()));
}

// How to begin with what a reduction of nothing gives.
std::string other_beginning(const Printer& names, const Assignment& assignment) {
  Printer print = names;
  const TensorVar& result = assignment.lhs.tensor;
  Expr value = with_reductions(assignment).rhs;
  bool reads = false;
  each<notation::Access>(value, [&](const notation::Access& n) { reads |= n.tensor == result; });
  std::string out = "give it data first";
  if (!reads) out += fmt::format(", assign it, {}", print(Assignment{assignment.lhs, AssignOp::Set, value}));
  try {
    Format filled = result.format().filled(identity(assignment.op, result.type()));
    out += fmt::format(", or say what it begins with by its format: {}", filled.str());
  } catch (const UserError&) {}  // a format with places for what is not stored
  return out;
}

// Sizes that follow from those of several tensors, as that of i in s = b(i+1) * c(i) does, are known with them.
void bind_sizes(const Provenance& provenance, const Assignment& assignment, const std::map<IndexVar, Extent>& extents) {
  auto is_of_tensor = [&](const Param& param) {
    for (const TensorVar& tensor : tensors(assignment))
      for (const Extent& extent : tensor.dims())
        if (extent.param() && *extent.param() == param) return true;
    return false;
  };
  for (const Root& root : provenance.roots) {
    auto extent = extents.find(root.var);
    const Param* param = root.size.grid_dim() ? nullptr : root.size.extent().param();
    if (param && extent != extents.end() && !is_of_tensor(*param)) Param(*param).bind(*extent->second.value());
  }
}

}  // namespace

void check_beginning(const ScheduledStatement& statement) {
  const Assignment& said = statement.written ? *statement.written : statement.assignment;
  const TensorVar& result = said.lhs.tensor;
  if (said.op == AssignOp::Set || result.format().fill() || is_zero(identity(said.op, result.type()))) return;
  Printer names;
  names(said);
  throw UserError(Diagnostic{fmt::format("{} holds nothing, and would count as 0 where {} puts values together with it",
                                         names.name(result), info(said.op).assignment),
                             {names.excerpt(said, [&](const notation::Access& a) { return a.tensor == result; })},
                             other_beginning(names, said)});
}

void agree_on(runtime::Transport& transport, const ScheduledStatement& statement) {
  if (transport.size() == 1) return;
  Printer names;
  std::vector<std::string> said{names(statement.assignment)};
  names(statement.scheduled);
  for (const Command& command : statement.commands) said.push_back(schedule::print(command, names));
  for (const TensorVar& tensor : tensors(statement.assignment)) {
    const Format& format = tensor.format();
    said.push_back(fmt::format("{} of {} as '{}' of {}", names.name(tensor),
                               join(tensor.dims(), " x ", [](const Extent& e) { return print(e); }), format.str(),
                               name_of(tensor.type())));
    if (format.distribution())
      said.push_back(fmt::format("{} on {}", DistributionPrinter(*format.distribution()).statement(names.name(tensor)),
                                 print(format.distribution()->machine())));
  }
  runtime::agree_on_texts(transport, said, "says",
                          "every rank says the same statements of the same tensors, in the same order");
}

void note_what_is_slow(Process& process, const ScheduledStatement& statement) {
  note_full_result(process.notes, statement.assignment);
}

void check_sizes(const ScheduledStatement& statement, std::vector<int64_t>& fitting) {
  std::vector<int64_t> sizes;
  for (const TensorVar& tensor : tensors(statement.assignment))
    for (const Extent& extent : tensor.dims()) sizes.push_back(extent.value().value_or(-1));
  bool known = std::find(sizes.begin(), sizes.end(), -1) == sizes.end();
  if (known && !sizes.empty() && sizes == fitting) return;
  check_sizes(statement);
  fitting = std::move(sizes);
}

void check_sizes(const ScheduledStatement& statement) {
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
  bind_sizes(statement.scheduled.provenance, statement.assignment, infer_extents(statement.assignment).value());
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

void bind_pieces(const ConcreteStatement& statement, int ranks) {
  auto look = [&](const IndexExpr& expr) {
    each<notation::IndexNumber>(expr, [&](const notation::IndexNumber& n) {
      if (n.value.grid_dim()) bind_machine(Machine(n.value.grid_dim()->machine()), ranks);
      else if (const Param* param = n.value.extent().param(); param && !param->value()) Param(*param).bind(ranks);
    });
  };
  for (const Relation& relation : statement.provenance.relations) {
    for (const Replaced& r : relation.replaced) look(r.value);
    for (const Made& m : relation.made) look(m.size);
  }
}

}  // namespace spdistal
