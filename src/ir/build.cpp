#include "ir/build.hpp"

#include "base/require.hpp"
#include "ir/analysis.hpp"
#include "ir/fold.hpp"

namespace spdistal::ir {

Expr Operand::expr() const {
  if (auto* e = std::get_if<Expr>(&value_)) return *e;
  if (auto* b = std::get_if<bool>(&value_)) return literal(Scalar::of(*b));
  if (auto* i = std::get_if<int64_t>(&value_)) return literal(Scalar::of(*i));
  return literal(Scalar::of(std::get<double>(value_)));
}

Expr Operand::expr(ScalarType wish) const {
  if (auto* i = std::get_if<int64_t>(&value_)) {
    if (wish == ScalarType::Bool || (wish == ScalarType::Int32 && *i != int32_t(*i))) return expr();
    return literal(Scalar::integer(wish, *i));
  }
  if (auto* x = std::get_if<double>(&value_); x && !is_integral(wish)) return literal(Scalar::number(wish, *x));
  return expr();
}

Expr literal(Scalar value) { return Literal{std::move(value)}; }
Expr int64(int64_t value) { return literal(Scalar::of(value)); }
Expr int32(int32_t value) { return literal(Scalar::of(value)); }
Expr zero(Type type) { return literal(Scalar::number(type.scalar, 0)); }
Expr one(Type type) { return literal(Scalar::number(type.scalar, 1)); }
Var var(std::string name, Type type) { return {Symbol(std::move(name)), type}; }

const Scalar* constant(const Expr& e) {
  auto* n = e.as<Literal>();
  return n ? &n->value : nullptr;
}

std::optional<int64_t> constant_integer(const Expr& e) {
  const Scalar* value = constant(e);
  if (!value || !is_integral(value->type())) return {};
  return value->integer();
}

Expr cast(ScalarType type, const Operand& value) { return fold(Cast{type, value.expr(type)}); }

namespace {

/// Brings two operands to one type: that which C++ computes in, with the lanes of the wider one.
void unify(Expr& a, Expr& b, ScalarType common) {
  a = cast(common, a), b = cast(common, b);
  int lanes = std::max(type_of(a).lanes, type_of(b).lanes);
  a = broadcast(a, lanes), b = broadcast(b, lanes);
}

ScalarType scalar(const Expr& e) { return type_of(e).scalar; }

}  // namespace

Expr binary(BinaryOp op, const Operand& left, const Operand& right) {
  Expr a = left.is_number() ? left.expr(scalar(right.expr())) : left.expr();
  Expr b = right.is_number() ? right.expr(scalar(a)) : right.expr();
  bool both_bool = scalar(a) == ScalarType::Bool && scalar(b) == ScalarType::Bool;
  if (op == BinaryOp::And || op == BinaryOp::Or || (both_bool && (op == BinaryOp::Eq || op == BinaryOp::Ne)))
    unify(a, b, ScalarType::Bool);
  else unify(a, b, promote(scalar(a), scalar(b)));
  return fold(Binary{op, a, b});
}

Expr unary(UnaryOp op, const Operand& a) {
  Expr value = op == UnaryOp::Not ? cast(ScalarType::Bool, a.expr()) : a.expr();
  if (op == UnaryOp::Neg && scalar(value) == ScalarType::Bool) value = cast(ScalarType::Int32, value);
  return fold(Unary{op, value});
}

Expr select(const Expr& cond, const Operand& yes, const Operand& no) {
  Expr a = yes.is_number() ? yes.expr(scalar(no.expr())) : yes.expr();
  Expr b = no.is_number() ? no.expr(scalar(a)) : no.expr();
  if (scalar(a) != scalar(b)) unify(a, b, promote(scalar(a), scalar(b)));
  return fold(Select{cond, a, b});
}

Expr load(const Var& array, const Operand& index, int lanes) { return Load{array, index.expr(), lanes}; }
Expr call(Math function, std::vector<Expr> args) { return Call{function, std::move(args)}; }

namespace {

Expr search(Bound bound, const Var& array, const Operand& lo, const Operand& hi, const Operand& value) {
  Expr low = lo.is_number() ? lo.expr(scalar(hi.expr())) : lo.expr();
  Expr high = hi.is_number() ? hi.expr(scalar(low)) : hi.expr();
  unify(low, high, promote(scalar(low), scalar(high)));
  Expr sought = value.expr(array.type.scalar);
  // A narrow array searched for a wide value is compared wide: the value need not fit the array's type.
  return Search{bound, array, low, high, sought};
}

}  // namespace

Expr lower_bound(const Var& array, const Operand& lo, const Operand& hi, const Operand& value) {
  return search(Bound::Lower, array, lo, hi, value);
}
Expr upper_bound(const Var& array, const Operand& lo, const Operand& hi, const Operand& value) {
  return search(Bound::Upper, array, lo, hi, value);
}

Expr broadcast(const Expr& value, int lanes) { return type_of(value).lanes == lanes ? value : Broadcast{value, lanes}; }

Stmt store(const Var& array, const Operand& index, const Operand& value, StoreMode mode) {
  return Store{mode, array, index.expr(), cast(array.type.scalar, value.expr(array.type.scalar))};
}

Stmt block(std::vector<Stmt> stmts) {
  if (stmts.size() == 1) return stmts[0];
  return Block{std::move(stmts)};
}

Var Body::constant(std::string name, const Operand& init) {
  Var v = var(std::move(name), type_of(init.expr()));
  add(Declare{v, init.expr(), Mutability::Const});
  return v;
}

Var Body::variable(std::string name, const Operand& init) {
  Var v = var(std::move(name), type_of(init.expr()));
  add(Declare{v, init.expr(), Mutability::Mutable});
  return v;
}

void Body::assign(const Var& var, const Operand& value) {
  add(Assign{var, cast(var.type.scalar, value.expr(var.type.scalar))});
}

void Body::increase(const Var& var, const Operand& value) { assign(var, binary(BinaryOp::Add, var, value)); }

Var Body::allocate(std::string name, ScalarType element, const Operand& count, Fill fill) {
  Var v = var(std::move(name), array_of(element));
  add(Allocate{v, count.expr(), fill});
  return v;
}

Stmt Body::collect(const Then& fill) {
  open_.emplace_back();
  fill();
  std::vector<Stmt> said = std::move(open_.back());
  open_.pop_back();
  return block(std::move(said));
}

void Body::loop(std::string name, const Operand& lo, const Operand& hi, const Each& fill, const LoopOptions& options) {
  Expr low = lo.is_number() ? lo.expr(scalar(hi.expr())) : lo.expr();
  Expr high = hi.is_number() ? hi.expr(scalar(low)) : hi.expr();
  unify(low, high, promote(scalar(low), scalar(high)));
  Var v = var(std::move(name), type_of(low));
  Stmt body = collect([&] { fill(v); });
  LoopKind kind = options.kind == LoopKind::Vector && carried_variable(body) ? LoopKind::Serial : options.kind;
  add(For{v, low, high, cast(v.type.scalar, options.step), body, kind, options.unroll});
}

void Body::loop_while(const Expr& cond, const Then& fill) { add(While{cond, collect(fill)}); }
void Body::when(const Expr& cond, const Then& then) { add(If{cond, collect(then), {}}); }
void Body::when(const Expr& cond, const Then& then, const Then& otherwise) {
  Stmt yes = collect(then);
  add(If{cond, yes, collect(otherwise)});
}

void Body::parallel(std::string share, const Operand& count, const Each& fill, const Then& setup) {
  Var v = var(std::move(share), type_of(count.expr()));
  open_.emplace_back();
  if (setup) setup();
  std::vector<Stmt> own = std::move(open_.back());
  open_.pop_back();
  add(Parallel{v, count.expr(), std::move(own), collect([&] { fill(v); })});
}

LocalPart Body::define(std::string name, std::vector<Var> values, std::vector<Var> places, const Then& fill) {
  LocalPart part{Symbol(std::move(name)), std::move(values), std::move(places)};
  add(Define{part.name, part.values, part.places, collect(fill)});
  return part;
}

void Body::perform(const LocalPart& part, const std::vector<Expr>& values, std::vector<Var> places) {
  std::vector<Expr> converted;
  for (size_t k = 0; k < values.size(); k++) converted.push_back(cast(part.values[k].type.scalar, values[k]));
  add(Perform{part.name, std::move(converted), std::move(places)});
}

Var FunctionBuilder::param(std::string name, Type type, Source source) {
  auto place = [](const Source& s) { return std::tuple(s.field, s.index, s.level, s.number); };
  for (const Param& known : params_)
    if (place(known.source) == place(source) && known.var.type == type) return known.var;
  Var v = var(std::move(name), type);
  params_.push_back({v, source});
  return v;
}

namespace {

Type array_type(ScalarType element, Access access) {
  return access == Access::Write ? array_of(element) : const_array_of(element);
}

}  // namespace

Var FunctionBuilder::vals(std::string name, int t, ScalarType element, Access access) {
  return param(std::move(name), array_type(element, access), {Source::Field::Vals, t});
}
Var FunctionBuilder::level_array(std::string name, const Source& source, ScalarType width, Access access) {
  return param(std::move(name), array_type(width, access), source);
}
Var FunctionBuilder::array(std::string name, int n, ScalarType element, Access access) {
  return param(std::move(name), array_type(element, access), {Source::Field::Array, n});
}
Var FunctionBuilder::number(std::string name, Source::Field field, int t, int level, ScalarType width) {
  return param(std::move(name), value_of(width), {field, t, level});
}
Var FunctionBuilder::scalar(std::string name, int n, ScalarType width) {
  return param(std::move(name), value_of(width), {Source::Field::Scalar, n});
}
Var FunctionBuilder::argument(std::string name, int n, ScalarType type) {
  return param(std::move(name), value_of(type), {Source::Field::Argument, n});
}
Var FunctionBuilder::shares(std::string name) { return param(std::move(name), Int64, {Source::Field::Shares}); }
Var FunctionBuilder::threads(std::string name) { return param(std::move(name), Int64, {Source::Field::Threads}); }

}  // namespace spdistal::ir
