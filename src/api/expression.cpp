// The C++ operators of index notation.
#include "spdistal/expression.hpp"

#include <fmt/format.h>

#include "api/state.hpp"
#include "api/waiting.hpp"
#include "notation/index_notation.hpp"

namespace spdistal {

using notation::AssignOp;
using notation::Binary;
using notation::BinaryOp;
using notation::Call;
using notation::Function;

namespace {

Expression binary(BinaryOp op, const Expression& a, const Expression& b) {
  return Expression(notation::Expr(Binary{op, a.tree(), b.tree()}));
}
template <class... Args>
Expression call(Function function, const Args&... args) {
  return Expression(notation::Expr(Call{function, {args.tree()...}}));
}

Expression reduction(AssignOp op, const IndexVar& j, const Expression& e) {
  return Expression(notation::Expr(notation::Reduction{op, j, e.tree()}));
}

// The call of a function, for what is stored of its first argument alone.
Expression only_stored(const Expression& e) {
  const Call* mapped = e.tree().as<Call>();
  if (!mapped || mapped->function == Function::Select)
    throw UserError("map takes a function of the notation", "give one of its functions: map(A(i, j), exp)");
  return Expression(notation::Expr(Call{mapped->function, mapped->args, notation::Domain::Stored}));
}

// Exponents that compilers know better ways for than the function of a library.
bool is_small_and_whole(const Scalar& value) {
  return std::visit(
      [](auto v) {
        for (int whole = -2; whole <= 2; whole++)
          if (v == decltype(v)(whole)) return true;
        return false;
      },
      static_cast<const ScalarVariant&>(value));
}

}  // namespace

Expression::Expression(const notation::Expr& tree) : tree_(std::make_shared<const notation::Expr>(tree)) {}
Expression Expression::argument(Scalar value) { return Expression(notation::Expr(notation::Argument{value})); }

Expression operator+(const Expression& a, const Expression& b) { return binary(BinaryOp::Add, a, b); }
Expression operator-(const Expression& a, const Expression& b) { return binary(BinaryOp::Sub, a, b); }
Expression operator*(const Expression& a, const Expression& b) { return binary(BinaryOp::Mul, a, b); }
Expression operator/(const Expression& a, const Expression& b) { return binary(BinaryOp::Div, a, b); }
Expression operator-(const Expression& a) { return Expression(notation::Expr(notation::Neg{a.tree()})); }
Expression operator<(const Expression& a, const Expression& b) { return binary(BinaryOp::Lt, a, b); }
Expression operator<=(const Expression& a, const Expression& b) { return binary(BinaryOp::Le, a, b); }
Expression operator>(const Expression& a, const Expression& b) { return binary(BinaryOp::Gt, a, b); }
Expression operator>=(const Expression& a, const Expression& b) { return binary(BinaryOp::Ge, a, b); }
Expression operator==(const Expression& a, const Expression& b) { return binary(BinaryOp::Eq, a, b); }
Expression operator!=(const Expression& a, const Expression& b) { return binary(BinaryOp::Ne, a, b); }
Expression operator&(const Expression& a, const Expression& b) { return binary(BinaryOp::And, a, b); }
Expression operator|(const Expression& a, const Expression& b) { return binary(BinaryOp::Or, a, b); }

Expression sqrt(const Expression& a) { return call(Function::Sqrt, a); }
Expression cbrt(const Expression& a) { return call(Function::Cbrt, a); }
Expression abs(const Expression& a) { return call(Function::Abs, a); }
Expression exp(const Expression& a) { return call(Function::Exp, a); }
Expression expm1(const Expression& a) { return call(Function::Expm1, a); }
Expression log(const Expression& a) { return call(Function::Log, a); }
Expression log1p(const Expression& a) { return call(Function::Log1p, a); }
Expression log2(const Expression& a) { return call(Function::Log2, a); }
Expression log10(const Expression& a) { return call(Function::Log10, a); }
Expression sin(const Expression& a) { return call(Function::Sin, a); }
Expression cos(const Expression& a) { return call(Function::Cos, a); }
Expression tan(const Expression& a) { return call(Function::Tan, a); }
Expression asin(const Expression& a) { return call(Function::Asin, a); }
Expression acos(const Expression& a) { return call(Function::Acos, a); }
Expression atan(const Expression& a) { return call(Function::Atan, a); }
Expression sinh(const Expression& a) { return call(Function::Sinh, a); }
Expression cosh(const Expression& a) { return call(Function::Cosh, a); }
Expression tanh(const Expression& a) { return call(Function::Tanh, a); }
Expression erf(const Expression& a) { return call(Function::Erf, a); }
Expression floor(const Expression& a) { return call(Function::Floor, a); }
Expression ceil(const Expression& a) { return call(Function::Ceil, a); }
Expression round(const Expression& a) { return call(Function::Round, a); }
Expression sigmoid(const Expression& a) { return call(Function::Sigmoid, a); }
Expression atan2(const Expression& a, const Expression& b) { return call(Function::Atan2, a, b); }
Expression select(const Expression& condition, const Expression& a, const Expression& b) {
  return call(Function::Select, condition, a, b);
}
Expression pow(const Expression& a, const Expression& b) {
  const notation::Argument* exponent = b.tree().as<notation::Argument>();
  if (!exponent || !is_small_and_whole(exponent->value)) return call(Function::Pow, a, b);
  return call(Function::Pow, a, Expression(notation::Expr(notation::Literal{exponent->value})));
}
Expression min(const Expression& a, const Expression& b) { return call(Function::Min, a, b); }
Expression max(const Expression& a, const Expression& b) { return call(Function::Max, a, b); }
Expression map(const Expression& a, Expression (*function)(const Expression&)) { return only_stored(function(a)); }
Expression map(const Expression& a, Expression (*function)(const Expression&, const Expression&), const Expression& b) {
  return only_stored(function(a, b));
}

Expression sum(const IndexVar& j, const Expression& e) { return reduction(AssignOp::Add, j, e); }
Expression prod(const IndexVar& j, const Expression& e) { return reduction(AssignOp::Mul, j, e); }
Expression min(const IndexVar& j, const Expression& e) { return reduction(AssignOp::Min, j, e); }
Expression max(const IndexVar& j, const Expression& e) { return reduction(AssignOp::Max, j, e); }
Expression any(const IndexVar& j, const Expression& e) { return reduction(AssignOp::Or, j, e); }
Expression all(const IndexVar& j, const Expression& e) { return reduction(AssignOp::And, j, e); }

Access::Access(std::shared_ptr<TensorState> tensor, std::vector<IndexVar> indices)
    : Expression(notation::Expr(notation::Access{tensor->var, std::move(indices)})), tensor_(std::move(tensor)) {}

Statement Access::operator=(const Expression& value) { return record(value, AssignOp::Set); }
Statement Access::operator+=(const Expression& value) { return record(value, AssignOp::Add); }
Statement Access::operator*=(const Expression& value) { return record(value, AssignOp::Mul); }
Statement Access::operator|=(const Expression& value) { return record(value, AssignOp::Or); }
Statement Access::operator&=(const Expression& value) { return record(value, AssignOp::And); }
Statement Access::min_with(const Expression& value) { return record(value, AssignOp::Min); }
Statement Access::max_with(const Expression& value) { return record(value, AssignOp::Max); }

Statement Access::record(const Expression& value, notation::AssignOp op) {
  notation::Assignment assignment{*tree().as<notation::Access>(), op, value.tree()};
  for (const notation::TensorVar& tensor : notation::tensors(assignment))
    if (!find_tensor(tensor))
      throw UserError(fmt::format("{} is gone: its last handle went before the statement was said", shown(tensor)),
                      "an expression does not keep its tensors: keep them until it is assigned");
  auto statement = std::make_shared<StatementState>(say(assignment));
  waiting().say(*tensor_, statement);
  return Statement(statement);
}

}  // namespace spdistal
