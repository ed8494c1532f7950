// The C++ operators of index notation.
#include "spdistal/expression.hpp"

#include <fmt/format.h>

#include "api/state.hpp"
#include "api/waiting.hpp"
#include "notation/index_notation.hpp"

namespace spdistal {

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
Expression sqrt(const Expression& a) { return call(Function::Sqrt, a); }
Expression abs(const Expression& a) { return call(Function::Abs, a); }
Expression exp(const Expression& a) { return call(Function::Exp, a); }
Expression log(const Expression& a) { return call(Function::Log, a); }
Expression pow(const Expression& a, const Expression& b) {
  const notation::Argument* exponent = b.tree().as<notation::Argument>();
  if (!exponent || !is_small_and_whole(exponent->value)) return call(Function::Pow, a, b);
  return call(Function::Pow, a, Expression(notation::Expr(notation::Literal{exponent->value})));
}
Expression min(const Expression& a, const Expression& b) { return call(Function::Min, a, b); }
Expression max(const Expression& a, const Expression& b) { return call(Function::Max, a, b); }
Expression sum(const IndexVar& j, const Expression& e) {
  return Expression(notation::Expr(notation::Sum{j, e.tree()}));
}

Access::Access(std::shared_ptr<TensorState> tensor, std::vector<IndexVar> indices)
    : Expression(notation::Expr(notation::Access{tensor->var, std::move(indices)})), tensor_(std::move(tensor)) {}

Statement Access::operator=(const Expression& value) { return record(value, notation::AssignOp::Set); }
Statement Access::operator+=(const Expression& value) { return record(value, notation::AssignOp::Add); }

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
