#include "notation/presence.hpp"

#include "base/require.hpp"

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
