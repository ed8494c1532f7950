#include "lower/values.hpp"

#include <fmt/format.h>

#include "base/require.hpp"
#include "lower/access.hpp"
#include "lower/iterate/positions.hpp"
#include "lower/temporaries.hpp"
#include "machine/print.hpp"

namespace spdistal::lower {

using namespace notation;
using ir::Expr;
using ir::Var;

namespace {

ir::BinaryOp op_of(notation::BinaryOp op) {
  static constexpr ir::BinaryOp ops[] = {ir::BinaryOp::Add, ir::BinaryOp::Sub, ir::BinaryOp::Mul, ir::BinaryOp::Div};
  return ops[size_t(op)];
}

// Whether a processor may refuse to divide an integer by this.
bool may_trap(const Expr& divisor) {
  const ir::Scalar* known = ir::constant(divisor);
  return !known || known->integer() == 0 || known->integer() == -1;
}

ir::Math math_of(Function function) {
  switch (function) {
    case Function::Sqrt: return ir::Math::Sqrt;
    case Function::Abs: return ir::Math::Abs;
    case Function::Exp: return ir::Math::Exp;
    case Function::Log: return ir::Math::Log;
    default: return ir::Math::Pow;
  }
}

bool is_finite_literal(const notation::Expr& expr) {
  auto* literal = expr.as<Literal>();
  return literal && std::visit([](auto v) { return v - v == decltype(v - v){}; },
                               static_cast<const ScalarVariant&>(literal->value));
}

// May it be other than zero where a factor, or what is divided, is not stored and counts as zero? Then it is not computed:
// products with infinities and with what is no number, and quotients by zero.
bool tells_zeros_apart(const Binary& n) {
  if (is_integral(type_of(notation::Expr(n)))) return false;  // zero by zero is zero, too
  if (n.op == notation::BinaryOp::Div) return !is_finite_literal(n.b);
  if (n.op != notation::BinaryOp::Mul) return false;
  return !is_finite_literal(n.a) && !is_finite_literal(n.b);
}

Expr load_operand(Context& c, const Scope& s, int operand) {
  const AccessState& state = s.access(operand);
  require(at_end(c, s, operand),
          fmt::format("{} is read where all its levels were gone down", c.print(c.access(operand + 1))));
  if (state.value) return *state.value;
  Expr value = ir::load(c.vals_array(operand + 1), state.position);
  return state.present ? ir::select(*state.present, value, ir::zero(ir::type_of(value))) : value;
}

// Where something of an expression is stored, as a condition at the place at hand; none: certainly.
std::optional<Expr> where_present(const Context& c, const Scope& s, const notation::Expr& expr) {
  using Condition = std::optional<Expr>;
  auto of = [&](const notation::Expr& e) { return where_present(c, s, e); };
  auto either = [&](const notation::Expr& x, const notation::Expr& y) -> Condition {
    if (is_zero(x) || is_zero(y)) return of(is_zero(x) ? y : x);
    Condition a = of(x), b = of(y);
    return a && b ? Condition(*a || *b) : std::nullopt;
  };
  return match(
      expr,
      [&](const Access& n) -> Condition {
        return s.temporaries.contains(n.tensor) ? std::nullopt : s.access(c.find_operand(n)).present;
      },
      [](const Literal&) -> Condition { return {}; }, [](const Argument&) -> Condition { return {}; },
      [&](const Neg& n) { return of(n.a); },
      [&](const Binary& n) -> Condition {
        if (n.op == BinaryOp::Div) return of(n.a);
        if (n.op != BinaryOp::Mul) return either(n.a, n.b);
        Condition a = of(n.a), b = of(n.b);
        return a && b ? Condition(*a && *b) : a ? a : b;
      },
      [&](const Call& n) -> Condition {
        if (!info(n.function).keeps_zero) return {};
        return n.args.size() == 1 ? of(n.args[0]) : either(n.args[0], n.args[1]);
      },
      [](const Sum&) -> Condition { return {}; });
}

Expr argument(Context& c, const Argument& n) {
  require(n.number > 0, "arguments of a statement are numbered");
  return c.f.argument(name_of(n), int(n.number) - 1, n.value.type());
}

Expr extent(Context& c, const Pieces& pieces, const std::string& of) {
  if (pieces.extent().is_literal()) return ir::int64(*pieces.value());
  return c.number(fmt::format("size_{}", of), pieces.extent());
}

}  // namespace

Expr value(Context& c, const Scope& s, const notation::Expr& expr) {
  if (s.summed) return *s.summed;
  return match(
      expr,
      [&](const Access& n) -> Expr {
        auto temporary = s.temporaries.find(n.tensor);
        if (temporary == s.temporaries.end()) return load_operand(c, s, c.find_operand(n));
        if (n.indices.empty()) return temporary->second.values;
        if (temporary->second.hash)
          return ir::load(temporary->second.values,
                          find_slot(c, temporary->second, c.name(n.tensor), s.values.at(n.indices[0])));
        return ir::load(temporary->second.values, temporary_position(s, temporary->second, n.indices));
      },
      [&](const Literal& n) -> Expr { return ir::literal(n.value); },
      [&](const Argument& n) -> Expr { return argument(c, n); },
      [&](const Neg& n) -> Expr { return -ir::cast(type_of(expr), value(c, s, n.a)); },
      [&](const Binary& n) -> Expr {
        ScalarType type = type_of(expr);
        if (is_zero(expr)) return ir::zero(ir::value_of(type));
        Expr b = ir::cast(type, value(c, s, n.b)), a = ir::cast(type, value(c, s, n.a));
        bool divides = n.op == notation::BinaryOp::Div && is_integral(type);
        if (divides && may_trap(b)) return ir::call(ir::Math::Quotient, {a, b});
        Expr out = ir::binary(op_of(n.op), a, b);
        if (!tells_zeros_apart(n)) return out;
        std::optional<Expr> present = where_present(c, s, expr);
        return present ? ir::select(*present, out, ir::zero(ir::type_of(out))) : out;
      },
      [&](const Call& n) -> Expr {
        ScalarType type = type_of(n.args[0]);
        for (const notation::Expr& arg : n.args) type = promote(type, type_of(arg));
        bool keeps = n.function == Function::Abs || n.function == Function::Min || n.function == Function::Max;
        if (is_integral(type) && !keeps) type = ScalarType::Float64;
        std::vector<Expr> args;
        for (const notation::Expr& arg : n.args) args.push_back(ir::cast(type, value(c, s, arg)));
        if (n.function == Function::Min) return ir::min(args[0], args[1]);
        if (n.function == Function::Max) return ir::max(args[0], args[1]);
        return ir::call(math_of(n.function), args);
      },
      [&](const Sum&) -> Expr {
        require(false, "sums are loops in concrete notation");
        return ir::int64(0);
      });
}

Expr temporary_position(const Scope& s, const Temporary& temporary, const std::vector<IndexVar>& indices) {
  Expr position = ir::int64(0);
  for (size_t d = 0; d < indices.size(); d++) position = position * temporary.sizes[d] + s.values.at(indices[d]);
  return position;
}

// ---- index variables ----

Expr size(Context& c, const Scope& s, const IndexVar& var) {
  if (const Root* root = c.provenance.root(var)) return extent(c, root->size, c.name(var));
  for (const Made& made : c.provenance.made_by(var)->made)
    if (made.var == var) return index(c, s, made.size);
  require(false, "a variable is a root or made by a relation");
  return ir::int64(0);
}

Expr nonzero(const Expr& size) {
  if (!ir::constant(size)) return ir::max(size, ir::int64(1));
  return ir::constant_integer(size) == 0 ? ir::int64(1) : size;
}

Expr index(Context& c, const Scope& s, const IndexExpr& expr) {
  return match(
      expr, [&](const ValueOf& n) -> Expr { return s.values.at(n.var); },
      [&](const SizeOf& n) -> Expr { return size(c, s, n.var); },
      [&](const notation::Number& n) -> Expr {
        const Param* param = n.value.extent().param();
        return extent(c, n.value, param ? c.print.name(*param) : "");
      },
      [&](const IndexBinary& n) -> Expr { return combine(n.op, index(c, s, n.a), index(c, s, n.b)); },
      [&](const StoredCount& n) -> Expr { return count_positions(c, s, n.levels); },
      [&](const StoredCoordinate&) -> Expr {
        require(false, "stored coordinates are found by position loops");
        return ir::int64(0);
      });
}

}  // namespace spdistal::lower
