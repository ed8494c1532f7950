#include "lower/values.hpp"

#include <fmt/format.h>

#include "base/require.hpp"
#include "lower/access.hpp"
#include "lower/iterate/positions.hpp"
#include "lower/operation.hpp"
#include "lower/temporaries.hpp"
#include "machine/print.hpp"
#include "notation/presence.hpp"

namespace spdistal::lower {

using namespace notation;
using ir::Expr;
using ir::Var;

namespace {

ir::BinaryOp op_of(notation::BinaryOp op) {
  static constexpr ir::BinaryOp ops[] = {ir::BinaryOp::Add, ir::BinaryOp::Sub, ir::BinaryOp::Mul, ir::BinaryOp::Div,
                                         ir::BinaryOp::Lt,  ir::BinaryOp::Le,  ir::BinaryOp::Gt,  ir::BinaryOp::Ge,
                                         ir::BinaryOp::Eq,  ir::BinaryOp::Ne,  ir::BinaryOp::And, ir::BinaryOp::Or};
  return ops[size_t(op)];
}

// Whether a processor may refuse to divide an integer by this.
bool may_trap(const Expr& divisor) {
  const ir::Scalar* known = ir::constant(divisor);
  return !known || known->integer() == 0 || known->integer() == -1;
}

// The functions of kernel IR; sigmoid is written out, and min, max and select are operations.
ir::Math math_of(Function function) {
  using ir::Math;
  static constexpr Math all[] = {Math::Sqrt,  Math::Cbrt, Math::Abs,   Math::Exp,   Math::Expm1, Math::Log,
                                 Math::Log1p, Math::Log2, Math::Log10, Math::Pow,   Math::Sin,   Math::Cos,
                                 Math::Tan,   Math::Asin, Math::Acos,  Math::Atan,  Math::Atan2, Math::Sinh,
                                 Math::Cosh,  Math::Tanh, Math::Erf,   Math::Floor, Math::Ceil,  Math::Round};
  static_assert(std::size(all) == size_t(Function::Sigmoid));
  return all[size_t(function)];
}

bool swallows_anything(const Context& c, notation::BinaryOp op, ScalarType type) {
  switch (op) {
    case notation::BinaryOp::Mul:
    case notation::BinaryOp::Div:
    case notation::BinaryOp::And:
    case notation::BinaryOp::Or: return true;
    case notation::BinaryOp::Add:
    case notation::BinaryOp::Sub: return c.infinite && !is_complex(type);
    default: return false;
  }
}

Expr load_operand(Context& c, const Scope& s, int operand) {
  const AccessState& state = s.access(operand);
  require(at_end(c, s, operand),
          fmt::format("{} is read where all its levels were gone down", c.print(c.access(operand + 1))));
  if (state.value) return *state.value;
  Expr value = ir::load(c.vals_array(operand + 1), state.position);
  return state.present ? ir::select(*state.present, value, ir::literal(c.tensor_var(operand + 1).fill())) : value;
}

// An element of an array that stands beside the values of a temporary, or instead of them.
Expr of_temporary(const Scope& s, const Temporary& temporary, const Var& array, const std::vector<IndexVar>& indices) {
  return indices.empty() ? Expr(array) : ir::load(array, temporary_position(s, temporary, indices));
}

// Conditions at the place at hand, as an algebra of sets: is something stored here?
struct StoredHere {
  Context& c;
  const Scope& s;

  Expr never() const { return ir::literal(ir::Scalar::of(false)); }
  Expr always() const { return ir::literal(ir::Scalar::of(true)); }
  Expr both(const Expr& a, const Expr& b) const { return a && b; }
  Expr either(const Expr& a, const Expr& b) const { return a || b; }
  Expr access(const Access& n) const {
    // A temporary has a value everywhere; an infinity that stands for nothing in it is nothing.
    if (auto temporary = s.temporaries.find(n.tensor); temporary != s.temporaries.end() && temporary->second.there)
      return of_temporary(s, temporary->second, *temporary->second.there, n.indices);
    if (s.temporaries.contains(n.tensor))
      return is_infinite(n.tensor.fill()) ? ir::differ(value(c, s, n), ir::literal(n.tensor.fill())) : always();
    return s.access(c.find_operand(n)).present.value_or(always());
  }
};

// The value where something of an expression is stored, what the expression is without elsewhere.
Expr where_stored(Context& c, const Scope& s, const notation::Expr& expr, const Expr& value) {
  StoredHere sets{c, s};
  Presence<Expr> presence = PresenceOf(sets)(expr);
  const ir::Scalar* known = ir::constant(presence.where);
  if (!presence.fill || (known && known->as<bool>())) return value;
  return ir::select(presence.where, value, ir::literal(convert(*presence.fill, ir::type_of(value).scalar)));
}

Expr applied(Function function, const std::vector<Expr>& args) {
  switch (function) {
    case Function::Min: return ir::min(args[0], args[1]);
    case Function::Max: return ir::max(args[0], args[1]);
    case Function::Sigmoid: {
      Expr one = ir::one(ir::type_of(args[0]));
      return one / (one + ir::call(ir::Math::Exp, std::vector<Expr>{-args[0]}));
    }
    default: return ir::call(math_of(function), args);
  }
}

Expr call(Context& c, const Scope& s, const notation::Expr& expr, const Call& n) {
  ScalarType type = type_of(expr);
  if (n.function == Function::Select)
    return ir::select(taken_as(ScalarType::Bool, value(c, s, n.args[0])), ir::cast(type, value(c, s, n.args[1])),
                      ir::cast(type, value(c, s, n.args[2])));
  ScalarType promoted = type_of(n.args[0]);
  for (const notation::Expr& arg : n.args) promoted = promote(promoted, type_of(arg));
  std::vector<Expr> args;
  for (const notation::Expr& arg : n.args)
    args.push_back(ir::cast(argument_type(n.function, promoted), value(c, s, arg)));
  Expr out = ir::cast(type, applied(n.function, args));
  bool swallows = info(n.function).types == FunctionInfo::Types::Ordered && tells_absent_apart(type, n.args);
  return swallows || n.domain == Domain::Stored ? where_stored(c, s, expr, out) : out;
}

Expr binary(Context& c, const Scope& s, const notation::Expr& expr, const Binary& n) {
  ScalarType type = type_of(expr);
  bool may_swallow = swallows_anything(c, n.op, type);
  if (std::optional<Scalar> known = may_swallow ? constant_of(expr) : std::nullopt)
    return ir::literal(convert(*known, type));
  ScalarType operands = is_logical(n.op)      ? ScalarType::Bool
                        : is_comparison(n.op) ? promote(type_of(n.a), type_of(n.b))
                                              : type;
  Expr b = taken_as(operands, value(c, s, n.b)), a = taken_as(operands, value(c, s, n.a));
  bool divides = n.op == notation::BinaryOp::Div && is_integral(type);
  if (divides && may_trap(b)) return ir::call(ir::Math::Quotient, {a, b});
  Expr out = ir::binary(op_of(n.op), a, b);
  return may_swallow && tells_absent_apart(type, n) ? where_stored(c, s, expr, out) : out;
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
        if (temporary->second.hash)
          return ir::load(temporary->second.values,
                          find_slot(c, temporary->second, c.name(n.tensor), s.values.at(n.indices[0])));
        return of_temporary(s, temporary->second, temporary->second.values, n.indices);
      },
      [&](const Literal& n) -> Expr { return ir::literal(n.value); },
      [&](const Argument& n) -> Expr { return argument(c, n); },
      [&](const Neg& n) -> Expr { return -ir::cast(type_of(expr), value(c, s, n.a)); },
      [&](const Binary& n) { return binary(c, s, expr, n); }, [&](const Call& n) { return call(c, s, expr, n); },
      [&](const Reduction&) -> Expr {
        require(false, "reductions are loops in concrete notation");
        return ir::int64(0);
      });
}

Expr is_there(Context& c, const Scope& s, const notation::Expr& expr, const Scalar& nothing) {
  StoredHere sets{c, s};
  return PresenceOf(sets).other_than(expr, nothing);
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
      [&](const notation::IndexNumber& n) -> Expr {
        const Param* param = n.value.extent().param();
        return extent(c, n.value, param ? c.print.name(*param) : "");
      },
      [&](const IndexBinary& n) -> Expr { return combine(n.op, index(c, s, n.a), index(c, s, n.b)); },
      [&](const StoredCount& n) -> Expr { return count_positions(c, s, n.levels); },
      [&](const StoredBefore& n) -> Expr { return positions_of_block(c, s, n.levels).begin; },
      [&](const StoredCoordinate&) -> Expr {
        require(false, "stored coordinates are found by position loops");
        return ir::int64(0);
      },
      [&](const BlockStart& n) -> Expr { return s.blocks.at(n.blocks.var).begin; },
      [&](const BlockSize& n) -> Expr {
        const Segment& block = s.blocks.at(n.blocks.var);
        return block.end - block.begin;
      });
}

}  // namespace spdistal::lower
