// Index notation in C++: accesses and the operators on them. `B(i, j) * c(j)` is an Expression; assigning one to an
// Access records a statement.
#pragma once
#include <complex>
#include <concepts>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

#include "spdistal/scalar.hpp"
#include "spdistal/symbol.hpp"

namespace spdistal {

template <class K>
class Handle;
namespace notation {
class TensorVar;
struct Access;
struct ExprKinds;
enum class AssignOp : uint8_t;
using Expr = Handle<ExprKinds>;
}  // namespace notation

struct StatementState;
class Schedule;

/// A tensor as commands name it; every Tensor<T> is one.
class TensorRef {
 public:
  explicit TensorRef(std::shared_ptr<const notation::TensorVar> var) : var_(std::move(var)) {}
  const notation::TensorVar& var() const { return *var_; }

 protected:
  std::shared_ptr<const notation::TensorVar> var_;
};

/// Numbers that can stand in a statement: the element types.
template <class T>
concept Number =
    std::same_as<T, bool> ||(std::signed_integral<T> && (sizeof(T) == 4 || sizeof(T) == 8)) || std::same_as<T, float> ||
    std::same_as<T, double> || std::same_as<T, std::complex<float>> || std::same_as<T, std::complex<double>>;

/// An expression of index notation.
class Expression {
 public:
  /// A number of the host, `alpha` in `x(i) += alpha * p(i)`: an argument of the statement, which is planned and compiled
  /// once whatever it is. It is a value and tells nothing of what is stored: a sparse `A(i,j) = alpha * B(i,j)` stores what
  /// B does, where alpha is 0 too. It is the same on every rank.
  template <Number T>
  Expression(T value) : Expression(argument(value)) {}
  explicit Expression(const notation::Expr& tree);

  const notation::Expr& tree() const { return *tree_; }

 protected:
  static Expression argument(Scalar value);
  std::shared_ptr<const notation::Expr> tree_;
};

Expression operator+(const Expression& a, const Expression& b);
Expression operator-(const Expression& a, const Expression& b);
Expression operator*(const Expression& a, const Expression& b);
Expression operator/(const Expression& a, const Expression& b);
Expression operator-(const Expression& a);
/// Comparisons are truth values, and count as 1 and 0 where they are computed with: masks.
Expression operator<(const Expression& a, const Expression& b);
Expression operator<=(const Expression& a, const Expression& b);
Expression operator>(const Expression& a, const Expression& b);
Expression operator>=(const Expression& a, const Expression& b);
Expression operator==(const Expression& a, const Expression& b);
Expression operator!=(const Expression& a, const Expression& b);
/// Do both hold, or either? Numbers hold where they are not zero.
Expression operator&(const Expression& a, const Expression& b);
Expression operator|(const Expression& a, const Expression& b);

Expression sqrt(const Expression& a);
Expression cbrt(const Expression& a);
Expression abs(const Expression& a);
Expression exp(const Expression& a);
Expression expm1(const Expression& a);
Expression log(const Expression& a);
Expression log1p(const Expression& a);
Expression log2(const Expression& a);
Expression log10(const Expression& a);
Expression sin(const Expression& a);
Expression cos(const Expression& a);
Expression tan(const Expression& a);
Expression asin(const Expression& a);
Expression acos(const Expression& a);
Expression atan(const Expression& a);
Expression atan2(const Expression& a, const Expression& b);
Expression sinh(const Expression& a);
Expression cosh(const Expression& a);
Expression tanh(const Expression& a);
Expression erf(const Expression& a);
Expression floor(const Expression& a);
Expression ceil(const Expression& a);
Expression round(const Expression& a);
/// 1 / (1 + exp(-a))
Expression sigmoid(const Expression& a);
/// a where the condition holds, b elsewhere.
Expression select(const Expression& condition, const Expression& a, const Expression& b);
/// What is stored of an expression, mapped by a function; what is not stays what it is: map(A(i, j), exp).
Expression map(const Expression& a, Expression (*function)(const Expression&));
Expression map(const Expression& a, Expression (*function)(const Expression&, const Expression&), const Expression& b);
/// A whole exponent from -2 to 2 is part of the statement: squares are multiplied.
Expression pow(const Expression& a, const Expression& b);
Expression min(const Expression& a, const Expression& b);
Expression max(const Expression& a, const Expression& b);
/// An explicit sum: over j, of everything in e. Without it a variable is summed over the smallest sub-expression that
/// holds all its uses.
Expression sum(const IndexVar& j, const Expression& e);
/// The same by other operations. Of nothing, the least is inf (the largest whole number), the product 1, and all hold.
Expression prod(const IndexVar& j, const Expression& e);
Expression min(const IndexVar& j, const Expression& e);
Expression max(const IndexVar& j, const Expression& e);
/// Does it hold for any value of j, or for all: is it other than zero?
Expression any(const IndexVar& j, const Expression& e);
Expression all(const IndexVar& j, const Expression& e);

/// One statement with its schedule: what an assignment to an access says. Copies are the same statement; to keep one changes
/// nothing about when it is computed.
class Statement {
 public:
  explicit Statement(std::shared_ptr<StatementState> state) : state_(std::move(state)) {}

  /// How to run it: commands are added, checked and applied one by one.
  Schedule schedule() const;
  /// The statement, its loops, and its loops after the schedule, as text.
  std::string str() const;
  StatementState& state() const { return *state_; }

 private:
  std::shared_ptr<StatementState> state_;
};

struct TensorState;

/// An element of a tensor, `B(i, j)`: read inside an expression, or written by = and +=.
class Access : public Expression {
 public:
  Access(std::shared_ptr<TensorState> tensor, std::vector<IndexVar> indices);
  Access(const Access&) = default;

  /// Say a statement, which waits until something needs it, and make it the current one of the tensor. Every rank says the
  /// same. `a(i) = b(i)` is a statement too, hence the assignment from an access.
  Statement operator=(const Expression& value);
  Statement operator=(const Access& value) { return *this = static_cast<const Expression&>(value); }
  Statement operator+=(const Expression& value);
  /// Variables that the left side lacks are reduced by the same operation, over the whole right side.
  Statement operator*=(const Expression& value);
  Statement operator|=(const Expression& value);
  Statement operator&=(const Expression& value);
  /// `a(i) min= …` and `a(i) max= …`: what is there, or the value where that is less, or greater.
  Statement min_with(const Expression& value);
  Statement max_with(const Expression& value);

 private:
  Statement record(const Expression& value, notation::AssignOp op);
  std::shared_ptr<TensorState> tensor_;
};

}  // namespace spdistal
