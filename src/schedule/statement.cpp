#include "schedule/statement.hpp"

#include <fmt/format.h>

#include <cmath>
#include <complex>

#include "notation/check.hpp"
#include "notation/concretize.hpp"
#include "notation/print.hpp"
#include "reference/element.hpp"

namespace spdistal {

using namespace notation;
using reference::EvaluatedElement;

namespace {

// A number of the host for what it may be: anything, so that what a statement may do does not depend on it.
Scalar any_value(const Argument& argument) {
  bool plain = std::visit([](auto v) { return v != decltype(v){} && std::isfinite(std::abs(std::complex<double>(v))); },
                          static_cast<const ScalarVariant&>(argument.value));
  return plain ? argument.value : reference::convert(1, argument.value.type());
}

// An expression where its tensors store nothing. What is divided by a tensor counts as zero with it.
EvaluatedElement at_nothing(const Expr& expr) {
  return match(
      expr, [](const notation::Access& n) { return reference::nothing(n.tensor.type()); },
      [](const Literal& n) { return reference::element_of(n); },
      [](const Argument& n) { return EvaluatedElement{any_value(n)}; },
      [](const Neg& n) { return reference::negate(at_nothing(n.a)); },
      [](const Binary& n) {
        EvaluatedElement a = at_nothing(n.a);
        if (n.op == BinaryOp::Div && reference::is_zero(a.value)) return a;
        return reference::compute(n.op, a, at_nothing(n.b));
      },
      [](const Call& n) {
        std::vector<EvaluatedElement> args;
        for (const Expr& arg : n.args) args.push_back(at_nothing(arg));
        return reference::compute(n.function, args);
      },
      [](const Sum& n) { return at_nothing(n.body); });
}
Scalar value_at_zero(const Expr& expr) { return at_nothing(expr).value; }

bool is_number(const Expr& expr) { return expr.is<Literal>() || expr.is<Argument>(); }

// The smallest part of an expression to blame for a value at zero: C(i,j) + exp(B(i,j)) -> exp(B(i,j)).
Expr part_at_fault(const Expr& expr) {
  if (const Sum* sum = expr.as<Sum>()) return part_at_fault(sum->body);
  if (const Neg* neg = expr.as<Neg>(); neg && !is_number(neg->a)) return part_at_fault(neg->a);
  const Binary* sum = expr.as<Binary>();
  if (!sum || sum->op == BinaryOp::Mul || sum->op == BinaryOp::Div) return expr;
  for (auto [part, other] : {std::pair{sum->a, sum->b}, std::pair{sum->b, sum->a}})
    if (!is_number(part) && reference::is_zero(value_at_zero(other))) return part_at_fault(part);
  return expr;
}

// A sparse result can be one number alone, which is zero: the host says it as the text does.
Assignment with_zero_in_text(const Assignment& assignment) {
  const Argument* number = assignment.rhs.as<Argument>();
  if (!number || assignment.lhs.tensor.format().is_dense() || !reference::is_zero(number->value)) return assignment;
  return {assignment.lhs, assignment.op, Literal{number->value}};
}

// A sparse result of something that is not zero where its operands are would store every element.
Result<> check_sparse_result(const Assignment& assignment) {
  const TensorVar& result = assignment.lhs.tensor;
  if (result.format().is_dense() || reference::is_zero(value_at_zero(assignment.rhs))) return {};
  Expr part = part_at_fault(assignment.rhs);
  Printer names;
  std::string text = names(assignment), shown = names(part);
  size_t at = text.find(shown, text.find('=') + 1);
  bool given = false;
  each<Argument>(part, [&](const Argument&) { given = true; });
  std::string reason = is_number(part) ? fmt::format("{} is zero nowhere", shown)
                       : given         ? fmt::format("{} need not be zero where its tensors are", shown)
                               : fmt::format("{} is {} where its tensors are zero", shown, print(value_at_zero(part)));
  return Diagnostic{fmt::format("{} is sparse, but {}", names.name(result), reason),
                    {{text, at, at + shown.size()}},
                    fmt::format("give {} a dense format: {}", names.name(result), dense_format(result.order()).str())};
}

}  // namespace

ScheduledStatement make_statement(const notation::Assignment& assignment) {
  notation::check(assignment).value();
  notation::Assignment meant = with_zero_in_text(assignment);
  check_sparse_result(meant).value();
  meant.rhs = number_arguments(meant.rhs);
  // A += e with sparse A is A = A + e: entries of e may be new. So it is where e alone would be rounded.
  const notation::TensorVar& result = assignment.lhs.tensor;
  if (assignment.op == notation::AssignOp::Add &&
      !(result.format().is_dense() && notation::sums_in_place(result.type(), notation::type_of(meant.rhs))))
    meant = {assignment.lhs, notation::AssignOp::Set,
             notation::Binary{notation::BinaryOp::Add, assignment.lhs, meant.rhs}};
  notation::ConcreteStatement concrete = notation::concretize(meant).value();
  bool placed = result.format().distribution().has_value();
  return {meant, concrete, concrete, {}, placed ? Residence::AsSaid : Residence::Anywhere};
}

}  // namespace spdistal
