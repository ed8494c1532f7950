#include "notation/presence.hpp"

#include <algorithm>

#include "base/require.hpp"
#include "notation/arithmetic.hpp"

namespace spdistal::notation {
namespace {

// Somewhere or nowhere.
struct Anywhere : TruthSets {
  bool access(const Access&) const { return true; }
};

Presence<bool> presence_of(const Expr& expr) {
  Anywhere sets;
  return PresenceOf(sets)(expr);
}

Assign assignment_to_result(const ConcreteStatement& statement) {
  std::optional<Assign> out;
  each<Assign>(statement.body, [&](const Assign& a) {
    if (a.lhs.tensor == statement.result && (!out || out->op == AssignOp::Set)) out = a;
  });
  require(out.has_value(), "a statement assigns to its result");
  return *out;
}

}  // namespace

std::optional<Scalar> fill_of(const Expr& expr) { return presence_of(expr).fill; }

std::optional<Scalar> constant_of(const Expr& expr) {
  Presence<bool> presence = presence_of(expr);
  return presence.where ? std::nullopt : presence.fill;
}

namespace {

bool is_finite_literal(const Expr& expr) {
  auto* literal = expr.as<Literal>();
  return literal && std::visit([](auto v) { return v - v == decltype(v - v){}; },
                               static_cast<const ScalarVariant&>(literal->value));
}

// Is it a quotient of which it matters what is divided, where that is nothing?
bool may_divide_by_zero(const Binary& n) {
  ScalarType type = type_of(Expr(n));
  return n.op == BinaryOp::Div && !is_integral(type) && tells_absent_apart(type, n);
}

// May it come to an infinity or to no number by dividing?
bool divides_by_zero(const Expr& expr) {
  bool found = false;
  each<Binary>(expr, [&](const Binary& n) { found |= may_divide_by_zero(n); });
  return found;
}

}  // namespace

bool tells_absent_apart(ScalarType type, const std::vector<Expr>& operands) {
  return !is_integral(type) && std::none_of(operands.begin(), operands.end(), is_finite_literal);
}

bool tells_absent_apart(ScalarType type, const Binary& n) {
  if (n.op != BinaryOp::Div) return tells_absent_apart(type, {n.a, n.b});
  // What is divided by a finite number is none the wiser about what is divided; by zero it is.
  bool by_zero = n.b.is<Literal>() && is_zero(n.b.as<Literal>()->value);
  return by_zero || tells_absent_apart(type, {n.b});
}

std::set<TensorVar> told_from_zeros(const Expr& expr) {
  std::set<TensorVar> out;
  auto take = [&](const Expr& part) { each<Access>(part, [&](const Access& a) { out.insert(a.tensor); }); };
  each<Binary>(expr, [&](const Binary& n) {
    bool product = n.op == BinaryOp::Mul;
    if (may_divide_by_zero(n) || (product && divides_by_zero(n.b))) take(n.a);
    if (product && divides_by_zero(n.a)) take(n.b);
  });
  return out;
}

Scalar neutral_of(const Assign& assign) {
  const TensorVar& tensor = assign.lhs.tensor;
  // A dense result begins with zeros, whatever its fill value is.
  if (assign.op == AssignOp::Set)
    return tensor.origin() == Origin::Declared && tensor.format().is_dense() ? zero(tensor.type()) : tensor.fill();
  return convert(identity(assign.op, reduced_type(assign.op, type_of(assign.rhs))), assign.lhs.tensor.type());
}

AssignOp operation_of(const ConcreteStatement& statement) {
  AssignOp op = assignment_to_result(statement).op;
  return op == AssignOp::Set ? AssignOp::Add : op;
}

Scalar background_of(const ConcreteStatement& statement) {
  Assign assign = assignment_to_result(statement);
  return assign.op == AssignOp::Set ? zero(statement.result.type()) : neutral_of(assign);
}

}  // namespace spdistal::notation
