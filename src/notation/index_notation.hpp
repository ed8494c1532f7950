// Tensor index notation (paper, section II.A): what to compute.
//
//   a(i) = B(i,j) * c(j)
//
// Meaning: for all values of the variables on the left, the element on the left is set (=) to the right side, or combined
// with it (+=, min=, …). A variable that stands on the right only is reduced by an explicit sum(j, …), min(j, …), …; else it is
// summed over the smallest sub-expression that holds all its uses, or, in a statement with min=, max=, *=, |= or &=, reduced by that
// operation over the whole right side.
#pragma once
#include <optional>
#include <string_view>
#include <vector>

#include "base/node.hpp"
#include "notation/tensor_var.hpp"
#include "spdistal/scalar.hpp"

namespace spdistal::notation {

struct ExprKinds;
using Expr = Handle<ExprKinds>;

enum class BinaryOp : uint8_t { Add, Sub, Mul, Div, Lt, Le, Gt, Ge, Eq, Ne, And, Or };
// clang-format off
enum class Function : uint8_t {
  Sqrt, Cbrt, Abs, Exp, Expm1, Log, Log1p, Log2, Log10, Pow, Sin, Cos, Tan, Asin, Acos, Atan, Atan2, Sinh, Cosh, Tanh, Erf,
  Floor, Ceil, Round, Sigmoid, Min, Max, Select
};
// clang-format on
/// Where a function is applied: everywhere, or, map(A(i,j), exp), only where its first argument is stored.
enum class Domain : uint8_t { Everywhere, Stored };
/// How a value meets what is there: =, or an operation, by which reductions put values together, too.
enum class AssignOp : uint8_t { Set, Add, Mul, Min, Max, Or, And };

/// An element of a tensor: B(i,j). The same variable may stand twice: B(i,i) is the diagonal. A window stands for the
/// coordinates that it takes of a dimension: b(i+1), B(i(2,10),j), B(i,0).
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
  Domain domain = Domain::Everywhere;
  static constexpr auto fields = std::tuple{&Call::function, &Call::args, &Call::domain};
};
/// The values of the body for all values of a variable, put together by an operation.
struct Reduction {
  AssignOp op;
  IndexVar var;
  Expr body;
  static constexpr auto fields = std::tuple{&Reduction::op, &Reduction::var, &Reduction::body};
};
struct ExprKinds : Kinds<Access, Literal, Argument, Neg, Binary, Call, Reduction> {};

/// A statement of index notation.
struct Assignment {
  Access lhs;
  AssignOp op;
  Expr rhs;
  static constexpr auto fields = std::tuple{&Assignment::lhs, &Assignment::op, &Assignment::rhs};
};

struct FunctionInfo {
  /// What it is computed in, and gives: its arguments promoted (integers too), the same as float numbers, float numbers of
  /// which complex ones are not among, or the second and third argument promoted.
  enum class Types : uint8_t { Any, Ordered, Floating, Real, Choice };
  Function function;
  std::string_view name;
  size_t arity;
  Types types;
};
/// All functions, in the order of the enum.
const std::vector<FunctionInfo>& functions();
const FunctionInfo& info(Function function);

struct OperationInfo {
  AssignOp op;
  std::string_view assignment;  // "min="
  std::string_view reduction;   // the name of min(j, …); none of =
  std::string_view done;        // what it does to values: "summed"
};
/// All ways to assign, in the order of the enum; = first.
const std::vector<OperationInfo>& operations();
const OperationInfo& info(AssignOp op);

bool is_comparison(BinaryOp op);
/// And and Or: of truth values.
bool is_logical(BinaryOp op);

/// The type of a value, as C++ would give it: integers and reals mix upwards, functions of integers are double, abs of a
/// complex is real, comparisons and what holds for any or all are bool.
ScalarType type_of(const Expr& expr);
/// The type that a function's arguments are converted to, of those that it has.
ScalarType argument_type(Function function, ScalarType promoted);
/// The type that values of a type are reduced in.
ScalarType reduced_type(AssignOp op, ScalarType value);

/// The variable that an index is found from: itself, i of i+1, none of a coordinate.
std::optional<IndexVar> variable_of(const IndexVar& index);
/// The variables of an access, in the order of its dimensions, each once.
std::vector<IndexVar> variables(const Access& access);
/// Every variable of an expression, by first use.
std::vector<IndexVar> variables(const Expr& expr);
/// Variables of the left side first, then of the right.
std::vector<IndexVar> variables(const Assignment& assignment);
/// Every tensor, the result first, then by first use.
std::vector<TensorVar> tensors(const Assignment& assignment);
bool uses(const Expr& expr, const IndexVar& var);
bool uses(const Access& access, const IndexVar& var);
bool has_windows(const Access& access);
/// The windows of a statement, in the order in which they stand.
std::vector<IndexVar> windows(const Assignment& assignment);
/// The expression with its arguments numbered from 1 on, in the order in which they stand.
Expr number_arguments(const Expr& expr);
/// The values of numbered arguments, in their order.
std::vector<Scalar> arguments(const Expr& expr);
/// The expression with variables replaced.
Expr rename(const Expr& expr, const std::vector<std::pair<IndexVar, IndexVar>>& renaming);

/// The same statement with every reduction written out.
Assignment with_reductions(const Assignment& assignment);
/// What is there, combined with a value.
Expr combined(AssignOp op, const Expr& there, const Expr& value);

}  // namespace spdistal::notation

namespace spdistal {

SPDISTAL_EXTERN_FAMILY(notation::ExprKinds)

}  // namespace spdistal
