#include "ir/fold.hpp"

#include "ir/build.hpp"
#include "ir/evaluate.hpp"

namespace spdistal::ir {
namespace {

bool is_arithmetic(BinaryOp op) { return op <= BinaryOp::Max; }
bool is_comparison(BinaryOp op) { return op >= BinaryOp::Lt && op <= BinaryOp::Ne; }

std::optional<Scalar> compute(BinaryOp op, const Scalar& a, const Scalar& b) {
  if (a.type() != b.type()) return {};
  return std::visit(
      [&](auto x) -> std::optional<Scalar> {
        using T = decltype(x);
        T y = b.as<T>();
        if (is_comparison(op)) {
          if (is_complex_v<T> && op != BinaryOp::Eq && op != BinaryOp::Ne) return {};
          return with_op<BinaryOp::Lt, BinaryOp::Ne>(op, [&](auto o) { return Scalar::of(comparison<o()>(x, y)); });
        }
        if constexpr (std::is_same_v<T, bool>) {
          return {};
        } else {
          if (!is_arithmetic(op) || (op == BinaryOp::Mod && !is_integer_v<T>)) return {};
          if (is_complex_v<T> && op >= BinaryOp::Mod) return {};
          if (is_integer_v<T> && (op == BinaryOp::Div || op == BinaryOp::Mod) && b.is(0)) return {};
          return with_op<BinaryOp::Add, BinaryOp::Max>(op, [&](auto o) { return Scalar::of(arithmetic<o()>(x, y)); });
        }
      },
      a.value());
}

/// (x + c), where x - c is x + (-c): the parts of an integer sum with a constant.
struct Sum {
  Expr rest;
  Scalar constant;
};
std::optional<Sum> as_sum(const Expr& e) {
  auto* n = e.as<Binary>();
  if (!n || (n->op != BinaryOp::Add && n->op != BinaryOp::Sub)) return {};
  const Scalar* c = constant(n->b);
  if (!c || !is_integral(c->type())) return {};
  return Sum{n->a, n->op == BinaryOp::Add ? *c : Scalar::integer(c->type(), negate(c->integer()))};
}

/// x + c with the sign that reads better.
Expr plus(const Expr& x, const Scalar& c) {
  int64_t value = c.integer();
  if (value == 0) return x;
  if (value < 0 && value != negate(value)) return Binary{BinaryOp::Sub, x, literal(Scalar::integer(c.type(), -value))};
  return Binary{BinaryOp::Add, x, literal(c)};
}

Expr fold_logic(const Binary& n, const Scalar* a, const Scalar* b) {
  bool neutral = n.op == BinaryOp::And;  // true && x, false || x
  if (a) return a->as<bool>() == neutral ? n.b : n.a;
  // The right operand may be dropped but the left one is still evaluated first: both are free of effects.
  if (b) return b->as<bool>() == neutral ? n.a : n.b;
  if (n.a == n.b) return n.a;
  return n;
}

Expr fold_integers(const Binary& n, const Scalar* a, const Scalar* b) {
  ScalarType type = type_of(n.a).scalar;
  switch (n.op) {
    case BinaryOp::Add:
      if (a && a->is(0)) return n.b;
      if (a) return fold(Binary{n.op, n.b, n.a});
      if (b)
        if (auto sum = as_sum(n.a)) return plus(sum->rest, *compute(BinaryOp::Add, sum->constant, *b));
      if (b) return plus(n.a, *b);
      break;
    case BinaryOp::Sub:
      if (n.a == n.b) return zero({type});
      if (b) return fold(Binary{BinaryOp::Add, n.a, literal(Scalar::integer(type, negate(b->integer())))});
      if (auto sum = as_sum(n.a); sum && sum->rest == n.b) return literal(sum->constant);
      break;
    case BinaryOp::Mul:
      if ((a && a->is(0)) || (b && b->is(0))) return zero({type});
      if (a && a->is(1)) return n.b;
      if (b && b->is(1)) return n.a;
      break;
    case BinaryOp::Div:
      if (b && b->is(1)) return n.a;
      break;
    case BinaryOp::Mod:
      if (b && b->is(1)) return zero({type});
      break;
    case BinaryOp::Min:
    case BinaryOp::Max:
      if (n.a == n.b) return n.a;
      break;
    case BinaryOp::Le:
    case BinaryOp::Ge:
    case BinaryOp::Eq:
      if (n.a == n.b) return literal(Scalar::of(true));
      break;
    case BinaryOp::Lt:
    case BinaryOp::Gt:
    case BinaryOp::Ne:
      if (n.a == n.b) return literal(Scalar::of(false));
      break;
    default: break;
  }
  return n;
}

Expr fold_floats(const Binary& n, const Scalar* a, const Scalar* b) {
  if (n.op == BinaryOp::Mul && a && a->is(1) && !is_complex(a->type())) return n.b;
  if (n.op == BinaryOp::Mul && b && b->is(1) && !is_complex(b->type())) return n.a;
  if (n.op == BinaryOp::Div && b && b->is(1) && !is_complex(b->type())) return n.a;
  if (n.op == BinaryOp::Sub && b && *b == Scalar::number(b->type(), 0)) return n.a;
  return n;
}

}  // namespace

Expr fold(const Binary& n) {
  const Scalar *a = constant(n.a), *b = constant(n.b);
  Type type = type_of(n.a);
  if (type.lanes > 1) return n;
  if (n.op == BinaryOp::And || n.op == BinaryOp::Or) return fold_logic(n, a, b);
  if (a && b)
    if (auto value = compute(n.op, *a, *b)) return literal(*value);
  if (type.scalar == ScalarType::Bool) return n;
  return is_integral(type.scalar) ? fold_integers(n, a, b) : fold_floats(n, a, b);
}

Expr fold(const Unary& n) {
  if (auto* inner = n.a.as<Unary>(); inner && inner->op == n.op) return inner->a;
  if (const Scalar* a = constant(n.a))
    return std::visit(
        [&](auto x) {
          if constexpr (std::is_same_v<decltype(x), bool>) return literal(Scalar::of(!x));
          else return literal(Scalar::of(negate(x)));
        },
        a->value());
  if (auto* c = n.a.as<Binary>(); n.op == UnaryOp::Not && c && is_comparison(c->op)) {
    // Floats with NaN have Eq and Ne alone as opposites.
    bool ordered = is_integral(type_of(c->a).scalar);
    switch (c->op) {
      case BinaryOp::Eq: return Binary{BinaryOp::Ne, c->a, c->b};
      case BinaryOp::Ne: return Binary{BinaryOp::Eq, c->a, c->b};
      case BinaryOp::Lt: return ordered ? Expr(Binary{BinaryOp::Ge, c->a, c->b}) : Expr(n);
      case BinaryOp::Le: return ordered ? Expr(Binary{BinaryOp::Gt, c->a, c->b}) : Expr(n);
      case BinaryOp::Gt: return ordered ? Expr(Binary{BinaryOp::Le, c->a, c->b}) : Expr(n);
      default: return ordered ? Expr(Binary{BinaryOp::Lt, c->a, c->b}) : Expr(n);
    }
  }
  return n;
}

Expr fold(const Cast& n) {
  Type from = type_of(n.value);
  if (from.scalar == n.type) return n.value;
  if (const Scalar* value = constant(n.value); value && !(is_complex(from.scalar) && !is_complex(n.type)))
    return std::visit(
        [&](auto x) {
          return with_type(n.type, [&](auto to) { return literal(Scalar::of(convert<decltype(to)>(x))); });
        },
        value->value());
  // int32 -> int64 -> int32 gives back what went in.
  if (auto* inner = n.value.as<Cast>(); inner && inner->type == ScalarType::Int64 && n.type == ScalarType::Int32)
    if (type_of(inner->value).scalar == ScalarType::Int32) return inner->value;
  return n;
}

Expr fold(const Select& n) {
  if (const Scalar* cond = constant(n.cond)) return cond->as<bool>() ? n.yes : n.no;
  if (n.yes == n.no) return n.yes;
  return n;
}

}  // namespace spdistal::ir
