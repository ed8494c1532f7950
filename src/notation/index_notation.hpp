// Tensor index notation (paper, section II.A): what to compute.
//
//   a(i) = B(i,j) * c(j)
//
// Meaning: for all values of the variables on the left, the element on the left is set (=) or increased (+=) by the
// right side. A variable that stands on the right only is summed over the smallest sub-expression that holds all its
// uses, or over the body of an explicit sum(j, …).
#pragma once
#include <string_view>
#include <vector>

#include "base/node.hpp"
#include "notation/tensor_var.hpp"
#include "spdistal/scalar.hpp"

namespace spdistal::notation {

struct ExprKinds;
using Expr = Handle<ExprKinds>;

enum class BinaryOp : uint8_t { Add, Sub, Mul, Div };
enum class Function : uint8_t { Sqrt, Abs, Exp, Log, Pow, Min, Max };

/// An element of a tensor: B(i,j). The same variable may stand twice: B(i,i) is the diagonal.
struct Access {
  TensorVar tensor;
  std::vector<IndexVar> indices;
  static constexpr auto fields = std::tuple{&Access::tensor, &Access::indices};
};
struct Literal {
  Scalar value;
  static constexpr auto fields = std::tuple{&Literal::value};
};
/// A number of the host, as C++ programs put them into statements: a value that comes with each run and tells nothing of
/// what is stored. Statements that differ in such values alone run the same plan and the same kernels.
struct Argument {
  Scalar value;
  size_t number = 0;  // of the statement's arguments, from 1; 0 before it stands in a statement
  static constexpr auto fields = std::tuple{&Argument::value, &Argument::number};
};
struct Neg {
  Expr a;
  static constexpr auto fields = std::tuple{&Neg::a};
};
struct Binary {
  BinaryOp op;
  Expr a, b;
  static constexpr auto fields = std::tuple{&Binary::op, &Binary::a, &Binary::b};
};
struct Call {
  Function function;
  std::vector<Expr> args;
  static constexpr auto fields = std::tuple{&Call::function, &Call::args};
};
/// The sum of the body over all values of a variable.
struct Sum {
  IndexVar var;
  Expr body;
  static constexpr auto fields = std::tuple{&Sum::var, &Sum::body};
};
struct ExprKinds : Kinds<Access, Literal, Argument, Neg, Binary, Call, Sum> {};

enum class AssignOp : uint8_t { Set, Add };  // = and +=

/// A statement of index notation.
struct Assignment {
  Access lhs;
  AssignOp op;
  Expr rhs;
  static constexpr auto fields = std::tuple{&Assignment::lhs, &Assignment::op, &Assignment::rhs};
};

struct FunctionInfo {
  Function function;
  std::string_view name;
  size_t arity;
  bool keeps_zero;  // is it zero where all its arguments are?
};
/// All functions, in the order of the enum.
const std::vector<FunctionInfo>& functions();
const FunctionInfo& info(Function function);

/// Is an expression zero whatever its tensors hold, for zeros that stand in the text? It counts as not stored then.
bool is_zero(const Expr& expr);
/// The type of a value, as C++ would give it: integers and reals mix upwards, functions of integers are double, abs of a
/// complex is real.
ScalarType type_of(const Expr& expr);

/// Every variable of an expression, by first use.
std::vector<IndexVar> variables(const Expr& expr);
/// Variables of the left side first, then of the right.
std::vector<IndexVar> variables(const Assignment& assignment);
/// Every tensor, the result first, then by first use.
std::vector<TensorVar> tensors(const Assignment& assignment);
bool uses(const Expr& expr, const IndexVar& var);
/// The expression with its arguments numbered from 1 on, in the order in which they stand.
Expr number_arguments(const Expr& expr);
/// The values of numbered arguments, in their order.
std::vector<Scalar> arguments(const Expr& expr);
/// The expression with variables replaced.
Expr rename(const Expr& expr, const std::vector<std::pair<IndexVar, IndexVar>>& renaming);

/// The same statement with every sum written out: a variable that stands on the right only is summed over the smallest
/// sub-expression that holds all its uses.
Assignment with_sums(const Assignment& assignment);

}  // namespace spdistal::notation
