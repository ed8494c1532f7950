// Pleasant construction of kernel IR. Operators convert their operands to a common type as C++ would and fold what is
// trivial (constants, x + 0, x * 1 of integers); a number becomes a literal of the other operand's type.
//
//   Expr i = …;  load(pos, i + 1)  *  2.0,  select(i < n, a, b),  store_add(a, i, v)
//
// A `Body` collects statements and gives declared variables back, so that a kernel reads like the loops it stands for;
// what is said while a loop is being filled goes into the loop:
//
//   FunctionBuilder f("spmv");
//   Var a = f.vals("a", 0, ScalarType::Float64, Access::Write), pos = f.level_array("B_pos", …), …;
//   f.loop("i", 0, n, [&](Var i) {
//     Var sum = f.variable("sum", zero(Float64));
//     f.loop("p", load(pos, i), load(pos, i + 1), [&](Var p) { f.increase(sum, load(B, p) * …); });
//     f.store(a, i, sum);
//   });
//   Function spmv = f.build();
#pragma once
#include <concepts>
#include <functional>
#include <string>

#include "ir/nodes.hpp"

namespace spdistal::ir {

// ---- expressions
// -----------------------------------------------------------------------------------------------------

/// An operand: an expression, a variable, or a C++ number that takes the type of what it meets.
class Operand {
 public:
  Operand(Expr e) : value_(std::move(e)) {}
  Operand(Var v) : value_(Expr(std::move(v))) {}
  template <class N>
    requires std::integral<N> || std::floating_point<N> Operand(N number) : value_(number_of(number)) {}

    /// As an expression; a number becomes int64, double or bool.
    Expr expr() const;
    /// As an expression, a number as a literal of this type where it fits.
    Expr expr(ScalarType wish) const;
    bool is_number() const { return value_.index() != 0; }

   private:
    using Number = std::variant<Expr, bool, int64_t, double>;
    template <class N>
    static Number number_of(N n) {
      if constexpr (std::same_as<N, bool>) return n;
      else if constexpr (std::integral<N>) return int64_t(n);
      else return double(n);
    }
    Number value_;
};

Expr literal(Scalar value);
Expr int64(int64_t value);
Expr int32(int32_t value);
/// 0 of a scalar type.
Expr zero(Type type);
Expr one(Type type);
Var var(std::string name, Type type);

/// The literal's value, where it is one.
const Scalar* constant(const Expr& e);
std::optional<int64_t> constant_integer(const Expr& e);

/// Converts to a scalar type (keeping lanes); nothing where it is that already.
Expr cast(ScalarType type, const Operand& value);

Expr binary(BinaryOp op, const Operand& a, const Operand& b);
Expr unary(UnaryOp op, const Operand& a);

template <class T>
concept IsExpr = std::same_as<T, Expr> || std::same_as<T, Var>;
template <class A, class B>
concept Operands = (IsExpr<A> || IsExpr<B>)&&std::convertible_to<A, Operand>&& std::convertible_to<B, Operand>;

// clang-format off
template <class A, class B> requires Operands<A, B> Expr operator+(const A& a, const B& b) { return binary(BinaryOp::Add, a, b); }
template <class A, class B> requires Operands<A, B> Expr operator-(const A& a, const B& b) { return binary(BinaryOp::Sub, a, b); }
template <class A, class B> requires Operands<A, B> Expr operator*(const A& a, const B& b) { return binary(BinaryOp::Mul, a, b); }
template <class A, class B> requires Operands<A, B> Expr operator/(const A& a, const B& b) { return binary(BinaryOp::Div, a, b); }
template <class A, class B> requires Operands<A, B> Expr operator%(const A& a, const B& b) { return binary(BinaryOp::Mod, a, b); }
template <class A, class B> requires Operands<A, B> Expr operator<(const A& a, const B& b) { return binary(BinaryOp::Lt, a, b); }
template <class A, class B> requires Operands<A, B> Expr operator<=(const A& a, const B& b) { return binary(BinaryOp::Le, a, b); }
template <class A, class B> requires Operands<A, B> Expr operator>(const A& a, const B& b) { return binary(BinaryOp::Gt, a, b); }
template <class A, class B> requires Operands<A, B> Expr operator>=(const A& a, const B& b) { return binary(BinaryOp::Ge, a, b); }
template <class A, class B> requires Operands<A, B> Expr operator&&(const A& a, const B& b) { return binary(BinaryOp::And, a, b); }
template <class A, class B> requires Operands<A, B> Expr operator||(const A& a, const B& b) { return binary(BinaryOp::Or, a, b); }
template <IsExpr A> Expr operator-(const A& a) { return unary(UnaryOp::Neg, a); }
template <IsExpr A> Expr operator!(const A& a) { return unary(UnaryOp::Not, a); }
// clang-format on
/// a == b as an expression; operator== of trees compares their structure.
inline Expr equal(const Operand& a, const Operand& b) { return binary(BinaryOp::Eq, a, b); }
inline Expr differ(const Operand& a, const Operand& b) { return binary(BinaryOp::Ne, a, b); }
inline Expr min(const Operand& a, const Operand& b) { return binary(BinaryOp::Min, a, b); }
inline Expr max(const Operand& a, const Operand& b) { return binary(BinaryOp::Max, a, b); }

Expr select(const Expr& cond, const Operand& yes, const Operand& no);
/// As an int64.
inline Expr wide(const Expr& e) { return cast(ScalarType::Int64, e); }
Expr load(const Var& array, const Operand& index, int lanes = 1);
Expr call(Math function, std::vector<Expr> args);
/// The first position in [lo, hi) with array[position] >= value.
Expr lower_bound(const Var& array, const Operand& lo, const Operand& hi, const Operand& value);
/// The first position in [lo, hi) with array[position] > value.
Expr upper_bound(const Var& array, const Operand& lo, const Operand& hi, const Operand& value);
Expr broadcast(const Expr& value, int lanes);

// ---- statements
// ------------------------------------------------------------------------------------------------------

/// A constant.
inline Stmt declare(const Var& v, const Expr& value) { return Declare{v, value, Mutability::Const}; }
Stmt store(const Var& array, const Operand& index, const Operand& value, StoreMode mode = StoreMode::Set);
/// One statement out of many: itself where it is one. A block is a scope: what it declares ends with it.
Stmt block(std::vector<Stmt> stmts);

struct LoopOptions {
  LoopKind kind = LoopKind::Serial;
  int unroll = 1;
  Expr step = int64(1);
};

/// A part of a function that was defined, to be performed.
struct LocalPart {
  Symbol name;
  std::vector<Var> values, places;
};

class Body {
 public:
  using Then = std::function<void()>;
  using Each = std::function<void(const Var&)>;

  void add(Stmt s) { open_.back().push_back(std::move(s)); }
  void comment(std::string text) { add(Comment{std::move(text)}); }
  /// Declares a constant, or a variable that is assigned later.
  Var constant(std::string name, const Operand& init);
  Var variable(std::string name, const Operand& init);
  void assign(const Var& var, const Operand& value);
  /// var = var + value.
  void increase(const Var& var, const Operand& value);
  void store(const Var& array, const Operand& index, const Operand& value) { add(ir::store(array, index, value)); }
  void store_add(const Var& array, const Operand& index, const Operand& value) {
    add(ir::store(array, index, value, StoreMode::Add));
  }
  void atomic_add(const Var& array, const Operand& index, const Operand& value) {
    add(ir::store(array, index, value, StoreMode::AtomicAdd));
  }
  void prefetch(const Var& array, const Operand& index) { add(Prefetch{array, index.expr()}); }
  Var allocate(std::string name, ScalarType element, const Operand& count, Fill fill);
  void sort(const Var& array, const Operand& lo, const Operand& hi) { add(Sort{array, lo.expr(), hi.expr()}); }
  void resize(const Var& array, const Operand& count) { add(Resize{array, count.expr()}); }
  void shrink(const Var& array, const Operand& count) { add(Shrink{array, count.expr()}); }
  void append(const Var& to, const Expr& share, const Expr& shares, const Var& from, const Operand& count) {
    add(Append{to, share, shares, from, count.expr()});
  }
  void stop() { add(Break{}); }
  void leave(int code) { add(Return{code}); }

  /// for (name = lo; name < hi; name += step); the variable has the wider type of lo and hi. A loop that is to be a
  /// Vector but carries a variable from turn to turn, other than a reduction, becomes Serial.
  void loop(std::string name, const Operand& lo, const Operand& hi, const Each& fill, const LoopOptions& options = {});
  void loop_while(const Expr& cond, const Then& fill);
  void when(const Expr& cond, const Then& then);
  void when(const Expr& cond, const Then& then, const Then& otherwise);
  /// Runs for share 0 … count-1; what `setup` allocates each thread has for itself.
  void parallel(std::string share, const Operand& count, const Each& fill, const Then& setup = {});

  /// Says once what is done in several places, with these constants, arrays and mutable variables; `perform` does it.
  LocalPart define(std::string name, std::vector<Var> values, std::vector<Var> places, const Then& fill);
  void perform(const LocalPart& part, const std::vector<Expr>& values, std::vector<Var> places);

  /// Runs `fill` and gives back what it said, instead of adding it here.
  Stmt collect(const Then& fill);
  /// All that was said.
  Stmt build() const { return block(open_.front()); }

 private:
  std::vector<std::vector<Stmt>> open_{1};  // of the loops being filled, outermost first
};

enum class Access : uint8_t { Read, Write };

/// Parameters and body of a function.
class FunctionBuilder : public Body {
 public:
  explicit FunctionBuilder(std::string name) : name_(std::move(name)) {}

  /// A parameter is where it comes from: asked for again it is the same, whatever name is wished for. Names are for
  /// people.
  Var param(std::string name, Type type, Source source);
  // Arrays of tensor `t`.
  Var vals(std::string name, int t, ScalarType element, Access access);
  Var level_array(std::string name, const Source& source, ScalarType width, Access access = Access::Read);
  Var array(std::string name, int n, ScalarType element, Access access = Access::Read);
  // Whole numbers of a level of tensor `t`, further scalars, the number of shares that threads divide work into, and of
  // the threads.
  Var number(std::string name, Source::Field field, int t, int level, ScalarType width = ScalarType::Int64);
  Var scalar(std::string name, int n, ScalarType width = ScalarType::Int64);
  /// A number of any type.
  Var argument(std::string name, int n, ScalarType type);
  Var shares(std::string name = "shares");
  Var threads(std::string name = "threads");

  Function build() const { return {name_, params_, Body::build()}; }

 private:
  std::string name_;
  std::vector<Param> params_;
};

}  // namespace spdistal::ir
