#include "notation/element.hpp"

#include <cmath>

namespace spdistal::notation {

bool is_infinite(const Scalar& value) {
  return std::visit(
      [](auto v) {
        if constexpr (std::is_floating_point_v<decltype(v)>) return std::isinf(v);
        else return false;
      },
      static_cast<const ScalarVariant&>(value));
}

std::optional<Scalar> swallows(BinaryOp op, Side side, const Scalar& value, ScalarType type) {
  switch (op) {
    case BinaryOp::Mul: return is_zero(value) ? std::optional(zero(type)) : std::nullopt;
    case BinaryOp::Div: return side == Side::Left && is_zero(value) ? std::optional(zero(type)) : std::nullopt;
    case BinaryOp::Add:
    case BinaryOp::Sub: {
      if (!is_infinite(value)) return std::nullopt;
      Scalar same = convert(value, type);
      return op == BinaryOp::Sub && side == Side::Right ? negate(same) : same;
    }
    case BinaryOp::And: return truth(value) ? std::nullopt : std::optional(Scalar(false));
    case BinaryOp::Or: return truth(value) ? std::optional(Scalar(true)) : std::nullopt;
    default: return std::nullopt;
  }
}

std::optional<Scalar> swallows(Function function, const Scalar& value, ScalarType type) {
  if (function != Function::Min && function != Function::Max) return std::nullopt;
  // The least number of all is what a maximum of nothing gives.
  Scalar last = identity(function == Function::Min ? AssignOp::Max : AssignOp::Min, type);
  return same_number(convert(value, type), last) ? std::optional(last) : std::nullopt;
}

EvaluatedElement compute(BinaryOp op, const EvaluatedElement& a, const EvaluatedElement& b) {
  Scalar value = compute(op, a.value, b.value);
  if (a.absent)
    if (std::optional<Scalar> all = swallows(op, Side::Left, a.value, value.type())) return {*all, true};
  if (b.absent)
    if (std::optional<Scalar> all = swallows(op, Side::Right, b.value, value.type())) return {*all, true};
  return {value, a.absent && b.absent};
}

EvaluatedElement compute(Function function, Domain domain, const std::vector<EvaluatedElement>& args) {
  std::vector<Scalar> values;
  bool absent = true;
  for (const EvaluatedElement& arg : args) values.push_back(arg.value), absent &= arg.absent;
  Scalar value = compute(function, values);
  if (domain == Domain::Stored) {
    ScalarType type = promote(value.type(), args[0].value.type());
    return args[0].absent ? EvaluatedElement{convert(args[0].value, type), true}
                          : EvaluatedElement{convert(value, type)};
  }
  if (function == Function::Select && args[0].absent) return {value, args[truth(args[0].value) ? 1 : 2].absent};
  for (const EvaluatedElement& arg : args)
    if (std::optional<Scalar> all = arg.absent ? swallows(function, arg.value, value.type()) : std::nullopt)
      return {*all, true};
  return {value, absent};
}

EvaluatedElement compute(AssignOp op, const EvaluatedElement& total, const EvaluatedElement& next) {
  ScalarType type = total.value.type();
  bool nothing = next.absent && same_number(convert(next.value, type), identity(op, type));
  if (nothing) return total;
  return {convert(compute(op, total.value, next.value), type), false};
}

}  // namespace spdistal::notation
