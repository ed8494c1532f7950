// Expressions of index notation and of index variables, as kernel IR.
#include <fmt/format.h>

#include "base/require.hpp"
#include "lower/lowerer.hpp"
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

// Is it zero whatever its tensors hold, for a zero that stands in the text?
bool is_zero_for_good(const notation::Expr& expr) {
  return match(
      expr, [](const Access&) { return false; },
      [](const Literal& n) {
        return std::visit([](auto v) { return v == decltype(v){}; }, static_cast<const ScalarVariant&>(n.value));
      },
      [](const Argument&) { return false; }, [](const Neg& n) { return is_zero_for_good(n.a); },
      [](const Binary& n) {
        if (n.op == notation::BinaryOp::Mul) return is_zero_for_good(n.a) || is_zero_for_good(n.b);
        return is_zero_for_good(n.a) && (n.op == notation::BinaryOp::Div || is_zero_for_good(n.b));
      },
      [](const Call&) { return false; }, [](const Sum& n) { return is_zero_for_good(n.body); });
}

}  // namespace

int Lowerer::find_operand(const Access& access) const {
  for (size_t k = 0; k < kernel_.operands.size(); k++)
    if (structurally_equal(kernel_.operands[k], access)) return int(k);
  require(false, "every access that is read is an operand");
  return 0;
}

Expr Lowerer::load_operand(int operand) {
  const AccessState& state = states_[size_t(operand)];
  require(at_end(operand),
          fmt::format("{} is read where all its levels were gone down", print_(kernel_.operands[size_t(operand)])));
  if (state.value) return *state.value;
  Expr value = ir::load(vals_array(operand + 1), state.position);
  return state.present ? ir::select(*state.present, value, ir::zero(ir::type_of(value))) : value;
}

// Where something of an expression is stored, as a condition at the place at hand; none: certainly.
std::optional<Expr> Lowerer::where_present(const notation::Expr& expr) const {
  using Condition = std::optional<Expr>;
  auto either = [](const Condition& a, const Condition& b) -> Condition {
    return a && b ? Condition(*a || *b) : std::nullopt;
  };
  return match(
      expr,
      [&](const Access& n) -> Condition {
        return temporaries_.contains(n.tensor) ? std::nullopt : states_[size_t(find_operand(n))].present;
      },
      [](const Literal&) -> Condition { return {}; }, [](const Argument&) -> Condition { return {}; },
      [&](const Neg& n) { return where_present(n.a); },
      [&](const Binary& n) -> Condition {
        Condition a = where_present(n.a);
        if (n.op == BinaryOp::Div) return a;
        Condition b = where_present(n.b);
        if (n.op != BinaryOp::Mul) return either(a, b);
        return a && b ? Condition(*a && *b) : a ? a : b;
      },
      [&](const Call& n) -> Condition {
        bool zero_at_zero = n.function != Function::Exp && n.function != Function::Log && n.function != Function::Pow;
        if (!zero_at_zero) return {};
        Condition out = where_present(n.args[0]);
        return n.args.size() == 1 ? out : either(out, where_present(n.args[1]));
      },
      [](const Sum&) -> Condition { return {}; });
}

Expr Lowerer::value(const notation::Expr& expr) {
  if (summed_) return *summed_;
  return match(
      expr,
      [&](const Access& n) -> Expr {
        auto temporary = temporaries_.find(n.tensor);
        if (temporary == temporaries_.end()) return load_operand(find_operand(n));
        if (n.indices.empty()) return temporary->second.values;
        if (temporary->second.slot) return ir::load(temporary->second.values, *temporary->second.slot);
        return ir::load(temporary->second.values, temporary_position(temporary->second, n.indices));
      },
      [&](const Literal& n) -> Expr { return ir::literal(n.value); },
      [&](const Argument& n) -> Expr { return argument(n); },
      [&](const Neg& n) -> Expr { return -ir::cast(type_of(expr), value(n.a)); },
      [&](const Binary& n) -> Expr {
        ScalarType type = type_of(expr);
        if (is_zero_for_good(expr)) return ir::zero(ir::value_of(type));
        Expr b = ir::cast(type, value(n.b)), a = ir::cast(type, value(n.a));
        bool divides = n.op == notation::BinaryOp::Div && is_integral(type);
        if (divides && may_trap(b)) return ir::call(ir::Math::Quotient, {a, b});
        Expr out = ir::binary(op_of(n.op), a, b);
        if (!tells_zeros_apart(n)) return out;
        std::optional<Expr> present = where_present(expr);
        return present ? ir::select(*present, out, ir::zero(ir::type_of(out))) : out;
      },
      [&](const Call& n) -> Expr {
        ScalarType type = type_of(n.args[0]);
        for (const notation::Expr& arg : n.args) type = promote(type, type_of(arg));
        bool keeps = n.function == Function::Abs || n.function == Function::Min || n.function == Function::Max;
        if (is_integral(type) && !keeps) type = ScalarType::Float64;
        std::vector<Expr> args;
        for (const notation::Expr& arg : n.args) args.push_back(ir::cast(type, value(arg)));
        if (n.function == Function::Min) return ir::min(args[0], args[1]);
        if (n.function == Function::Max) return ir::max(args[0], args[1]);
        return ir::call(math_of(n.function), args);
      },
      [&](const Sum&) -> Expr {
        require(false, "sums are loops in concrete notation");
        return ir::int64(0);
      });
}

Expr Lowerer::argument(const Argument& n) {
  require(n.number > 0, "arguments of a statement are numbered");
  return f_.argument(name_of(n), int(n.number) - 1, n.value.type());
}

Expr Lowerer::temporary_position(const Temporary& temporary, const std::vector<IndexVar>& indices) {
  Expr position = ir::int64(0);
  for (size_t d = 0; d < indices.size(); d++) position = position * temporary.sizes[d] + values_.at(indices[d]);
  return position;
}

// ---- index variables ----

Expr Lowerer::extent(const Pieces& pieces, const std::string& of) {
  if (pieces.extent().is_literal()) return ir::int64(*pieces.value());
  return number(fmt::format("size_{}", of), pieces.extent());
}

Expr Lowerer::size(const IndexVar& var) {
  if (const Root* root = provenance_.root(var)) return extent(root->size, name(var));
  for (const Made& made : provenance_.made_by(var)->made)
    if (made.var == var) return index(made.size);
  require(false, "a variable is a root or made by a relation");
  return ir::int64(0);
}

Expr Lowerer::index(const IndexExpr& expr) {
  return match(
      expr, [&](const ValueOf& n) -> Expr { return values_.at(n.var); },
      [&](const SizeOf& n) -> Expr { return size(n.var); },
      [&](const notation::Number& n) -> Expr {
        const Param* param = n.value.extent().param();
        return extent(n.value, param ? print_.name(*param) : "");
      },
      [&](const IndexBinary& n) -> Expr { return combine(n.op, index(n.a), index(n.b)); },
      [&](const StoredCount& n) -> Expr { return count_positions(n.levels); },
      [&](const StoredCoordinate&) -> Expr {
        require(false, "stored coordinates are found by position loops");
        return ir::int64(0);
      });
}

}  // namespace spdistal::lower
