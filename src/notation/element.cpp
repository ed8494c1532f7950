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
      if (!is_infinite(value) || is_complex(type)) return std::nullopt;
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

namespace {

// Elements that are not there, and swallow each other.
bool are_opposed(BinaryOp op, const EvaluatedElement& a, const EvaluatedElement& b, ScalarType type) {
  if (!a.absent || !b.absent) return false;
  std::optional<Scalar> left = swallows(op, Side::Left, a.value, type),
                        right = swallows(op, Side::Right, b.value, type);
  return left && right && !same_number(*left, *right);
}

// A number of the host for what it may be: anything, so that nothing depends on it.
Scalar any_value(const Argument& argument) {
  bool plain = std::visit([](auto v) { return v != decltype(v){} && std::isfinite(std::abs(std::complex<double>(v))); },
                          static_cast<const ScalarVariant&>(argument.value));
  return plain ? argument.value : convert(1, argument.value.type());
}

}  // namespace

bool cancels(const Binary& n) {
  bool sum = n.op == BinaryOp::Add || n.op == BinaryOp::Sub;
  return sum && are_opposed(n.op, at_nothing(n.a), at_nothing(n.b), type_of(n));
}

EvaluatedElement at_nothing(const Expr& expr) {
  return match(
      expr,
      [](const Access& n) {
        return EvaluatedElement{n.tensor.fill(), true};
      },
      [](const Literal& n) { return element_of(n); }, [](const Argument& n) { return EvaluatedElement{any_value(n)}; },
      [](const Neg& n) { return negate(at_nothing(n.a)); },
      [](const Binary& n) { return compute(n.op, at_nothing(n.a), at_nothing(n.b)); },
      [](const Call& n) {
        std::vector<EvaluatedElement> args;
        for (const Expr& arg : n.args) args.push_back(at_nothing(arg));
        return compute(n.function, n.domain, args);
      },
      [&](const Reduction& n) {
        return compute(n.op, {identity(n.op, type_of(expr)), true}, at_nothing(n.body));
      });
}

EvaluatedElement compute(BinaryOp op, const EvaluatedElement& a, const EvaluatedElement& b) {
  Scalar value = compute(op, a.value, b.value);
  if (are_opposed(op, a, b, value.type())) return {value};
  if (a.absent)
    if (std::optional<Scalar> all = swallows(op, Side::Left, a.value, value.type())) return {*all, true};
  if (b.absent)
    if (std::optional<Scalar> all = swallows(op, Side::Right, b.value, value.type())) return {*all, true};
  return {value, a.absent && b.absent};
}

EvaluatedElement compute(const Binary& n, const EvaluatedElement& a, const EvaluatedElement& b) {
  return cancels(n) ? EvaluatedElement{compute(n.op, a.value, b.value)} : compute(n.op, a, b);
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
  Scalar value = convert(compute(op, total.value, next.value), type), none = identity(op, type);
  return {value, is_infinite(none) && same_number(value, none)};
}

}  // namespace spdistal::notation
