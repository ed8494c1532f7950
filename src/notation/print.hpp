// Statements as text. What is printed of index notation parses to the same tree.
#pragma once
#include <functional>
#include <map>
#include <string>

#include "base/names.hpp"
#include "notation/concrete.hpp"
#include "notation/index_notation.hpp"
#include "spdistal/error.hpp"

namespace spdistal::notation {

/// How numbers of the host are printed: as they are, or by name where what is printed holds for all values.
enum class ArgumentText : uint8_t { Value, Name };

/// Prints the parts of one program with names chosen once: two variables never print alike.
class Printer {
 public:
  explicit Printer(ArgumentText arguments = ArgumentText::Value) : arguments_(arguments) {}

  std::string name(const IndexVar& var);
  std::string name(const TensorVar& tensor);
  std::string name(const Param& param);
  /// A number that a program gives: "1000", "M.x", or the name of a parameter that has no value yet.
  std::string number(const Pieces& pieces);
  /// The size of a variable: the same, but "|i|" for a parameter that has no name either.
  std::string size(const Pieces& pieces, const IndexVar& of);

  std::string operator()(const Access& access);
  std::string operator()(const Expr& expr);
  std::string operator()(const Assignment& assignment);

  /// The statement with the first access that `marked` picks underlined; all of it where none is picked.
  Excerpt excerpt(const Assignment& assignment, const std::function<bool(const Access&)>& marked);

  /// The loops of a concrete statement, one per line.
  std::string operator()(const ConcreteStatement& statement);
  /// The same inside of loops that are not shown: `around` are their variables.
  std::string inside(const ConcreteStatement& statement, const std::vector<IndexVar>& around);
  /// How a variable is found from the loops: "i = io * 32 + ii < |i|"; its name alone where it has a loop.
  std::string found(const ConcreteStatement& statement, const IndexVar& var);
  /// The number of values of any variable.
  std::string size(const ConcreteStatement& statement, const IndexVar& var);
  /// The same with the line of one loop underlined.
  Excerpt excerpt(const ConcreteStatement& statement, const IndexVar& loop);

 private:
  friend class ConcretePrinter;
  void expression(std::string& out, const Expr& expr, int context);
  void access(std::string& out, const Access& access);

  ArgumentText arguments_;
  Names vars_, tensors_, params_;
  std::map<std::pair<Symbol, std::string>, IndexVar> sized_;  // by parameter and name, the variable printed first
  std::function<bool(const Access&)> marked_;
  std::optional<std::pair<size_t, size_t>> mark_;
};

/// A literal as the parser reads it: 2, 2L, 2.5, 2.5f, true, complex(1.0, 2.0).
std::string print(const Scalar& value);
/// What an argument is called in kernels and plans: number1, number2, …
std::string name_of(const Argument& argument);
std::string print(const Expr& expr);
std::string print(const Assignment& assignment);
std::string print(const ConcreteStatement& statement);

}  // namespace spdistal::notation
