#include "schedule/statement.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "format/fill.hpp"
#include "notation/check.hpp"
#include "notation/concretize.hpp"
#include "notation/element.hpp"
#include "notation/presence.hpp"
#include "notation/print.hpp"

namespace spdistal {

using namespace notation;

namespace {

Scalar value_at_nothing(const Expr& expr) { return at_nothing(expr).value; }

bool is_number(const Expr& expr) { return expr.is<Literal>() || expr.is<Argument>(); }

// The smallest part of an expression to blame for a value at zero: C(i,j) + exp(B(i,j)) -> exp(B(i,j)).
Expr part_at_fault(const Expr& expr) {
  if (const Reduction* n = expr.as<Reduction>(); n && n->op == AssignOp::Add) return part_at_fault(n->body);
  if (const Neg* neg = expr.as<Neg>(); neg && !is_number(neg->a)) return part_at_fault(neg->a);
  const Binary* sum = expr.as<Binary>();
  if (!sum || (sum->op != BinaryOp::Add && sum->op != BinaryOp::Sub)) return expr;
  for (auto [part, other] : {std::pair{sum->a, sum->b}, std::pair{sum->b, sum->a}})
    if (!is_number(part) && is_zero(value_at_nothing(other))) return part_at_fault(part);
  return expr;
}

// Is it what elements of the result count as that are not stored?
bool is_fill(const Scalar& value, const TensorVar& result) {
  return same_number(convert(value, result.type()), result.fill());
}

// A sparse result can be one number alone, its fill value: the host says it as the text does.
Assignment with_fill_in_text(const Assignment& assignment) {
  const Argument* number = assignment.rhs.as<Argument>();
  const TensorVar& result = assignment.lhs.tensor;
  if (!number || result.format().is_dense() || !is_fill(number->value, result)) return assignment;
  return {assignment.lhs, assignment.op, Literal{number->value}};
}

bool has_zeros_alone(const Expr& expr) {
  bool all = true;
  each<notation::Access>(expr, [&](const notation::Access& n) { all &= is_zero(n.tensor.fill()); });
  return all;
}

// What would make a sparse result of it one.
std::string remedy(const Printer& names, const TensorVar& result, const Expr& value) {
  Printer print = names;
  std::string out = fmt::format("give {} a dense format: {}", print.name(result), dense_format(result.order()).str());
  std::optional<Scalar> fill = fill_of(value);
  if (!fill || is_fill(*fill, result)) return out;
  Format filled = result.format().filled(convert(*fill, result.type()));
  return fmt::format("{}, or {} where nothing is stored: {}", out, print_fill(filled.fill().value_or(0)), filled.str());
}

// What is reduced where nothing is stored is something else for each number of values.
bool reduces_nothing(const Assignment& assignment) {
  bool all = true;
  each<Reduction>(with_reductions(assignment).rhs, [&](const Reduction& n) {
    Scalar nothing = identity(n.op, reduced_type(n.op, type_of(n.body)));
    all &= same_number(convert(value_at_nothing(n.body), nothing.type()), nothing);
  });
  return all;
}

// A sparse result of something that is not its fill value where its operands store nothing would store every element.
Result<> check_sparse_result(const Assignment& assignment) {
  const TensorVar& result = assignment.lhs.tensor;
  Scalar value = value_at_nothing(assignment.rhs);
  bool fills = is_fill(compute(assignment.op, result.fill(), value), result) && reduces_nothing(assignment);
  if (result.format().is_dense() || fills) return {};
  Expr part = part_at_fault(assignment.rhs);
  Printer names;
  std::string text = names(assignment), shown = names(part);
  size_t at = text.find(shown, text.find('=') + 1);
  bool given = false;
  each<Argument>(part, [&](const Argument&) { given = true; });
  std::string reason;
  if (is_fill(value_at_nothing(part), result))
    reason = fmt::format("{} is {} where nothing is stored, and many of them are put together", shown,
                         print(value_at_nothing(part)));
  else if (!is_zero(result.fill()) || !has_zeros_alone(assignment.rhs))
    reason = fmt::format("{} is {} where nothing is stored, and {} is {}", shown, print(value_at_nothing(part)),
                         names.name(result), print(result.fill()));
  else if (is_number(part)) reason = fmt::format("{} is zero nowhere", shown);
  else if (given) reason = fmt::format("{} need not be zero where its tensors are", shown);
  else reason = fmt::format("{} is {} where its tensors are zero", shown, print(value_at_nothing(part)));
  return Diagnostic{fmt::format("{} is sparse, but {}", names.name(result), reason),
                    {{text, at, at + shown.size()}},
                    remedy(names, result, with_reductions(assignment).rhs)};
}

// Elements of a dense result beside a diagonal that is assigned would have to get their fill value, too.
Result<> check_diagonal(const Assignment& assignment) {
  const notation::Access& lhs = assignment.lhs;
  if (!is_diagonal(lhs) || assignment.op != AssignOp::Set || !lhs.tensor.format().is_dense() ||
      is_zero(lhs.tensor.fill()))
    return {};
  Printer names;
  names(assignment);
  return Diagnostic{fmt::format("{} alone is assigned, and the other elements of {} would be {}", names(lhs),
                                names.name(lhs.tensor), print(lhs.tensor.fill())),
                    {names.excerpt(assignment, [&](const notation::Access& a) { return structurally_equal(a, lhs); })},
                    fmt::format("give {} no fill value, or a sparse format", names.name(lhs.tensor))};
}

Result<> check_window(const Assignment& assignment) {
  const notation::Access& lhs = assignment.lhs;
  if (lhs.tensor.format().is_dense()) return {};
  Printer names;
  names(assignment);
  return Diagnostic{
      fmt::format("{} is a window of {}, which is sparse: elements would have to come and go in its midst", names(lhs),
                  names.name(lhs.tensor)),
      {names.excerpt(assignment, [&](const notation::Access& a) { return structurally_equal(a, lhs); })},
      fmt::format("give {} a dense format, or assign all of it", names.name(lhs.tensor))};
}

// What goes into a window, as a tensor of its own: one dimension for each variable, stored in the order of the result's.
Assignment part_of(const Assignment& assignment) {
  const TensorVar& whole = assignment.lhs.tensor;
  std::vector<IndexVar> vars = variables(assignment.lhs);
  std::map<IndexVar, Extent> extents = infer_extents(assignment).value();
  std::vector<Extent> dims;
  for (const IndexVar& var : vars) dims.push_back(extents.at(var));
  std::vector<int> order;
  for (int dim : whole.format().mode_order())
    if (std::optional<IndexVar> var = variable_of(assignment.lhs.indices[size_t(dim)])) {
      int place = int(std::find(vars.begin(), vars.end(), *var) - vars.begin());
      if (std::find(order.begin(), order.end(), place) == order.end()) order.push_back(place);
    }
  Expr value = with_reductions(with_open_windows(assignment)).rhs;
  std::string name = whole.symbol().name();
  TensorVar part({Symbol(name.empty() ? "" : name + "'"),
                  assignment.op == AssignOp::Set ? whole.type() : type_of(value), dims,
                  Format(std::vector<LevelFormat>(vars.size(), Dense), order)});
  return {{part, vars}, AssignOp::Set, value};
}

ScheduledStatement make_window_statement(const Assignment& assignment) {
  check_window(assignment).value();
  Assignment part = part_of(assignment);
  notation::ConcreteStatement concrete = notation::concretize(part).value();
  return {assignment, concrete, concrete, {}, Residence::Anywhere, part};
}

}  // namespace

ScheduledStatement make_statement(const notation::Assignment& assignment) {
  notation::check(assignment).value();
  notation::Assignment meant = with_fill_in_text(assignment);
  if (has_windows(meant.lhs)) {
    meant.rhs = number_arguments(meant.rhs);
    return make_window_statement(meant);
  }
  check_sparse_result(meant).value();
  check_diagonal(meant).value();
  meant.rhs = number_arguments(meant.rhs);
  // A += e with sparse A is A = A + e: entries of e may be new. So it is where e alone would be rounded.
  const notation::TensorVar& result = assignment.lhs.tensor;
  bool in_place = result.format().is_dense() && reduces_in_place(meant.op, result.type(), type_of(meant.rhs));
  std::optional<notation::Assignment> written;
  if (meant.op != AssignOp::Set && !in_place) {
    written = meant;
    notation::Expr value = meant.op == AssignOp::Add ? meant.rhs : with_reductions(meant).rhs;
    meant = {meant.lhs, AssignOp::Set, combined(meant.op, meant.lhs, value)};
  }
  notation::ConcreteStatement concrete = notation::concretize(meant).value();
  bool placed = result.format().distribution().has_value();
  return {meant, concrete, concrete, {}, placed ? Residence::AsSaid : Residence::Anywhere, {}, written};
}

}  // namespace spdistal
