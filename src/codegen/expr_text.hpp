// Expressions of kernel IR as C-family text: the parentheses that are needed, and no conversion that the language does
// by itself.
#pragma once
#include <map>
#include <set>
#include <string>

#include "codegen/spelling.hpp"
#include "ir/scoped_names.hpp"

namespace spdistal::codegen {

/// Helper functions that a text uses, in the order in which they are printed before the kernel (helpers.hpp).
enum class Helper : uint8_t {
  Complex,
  ComplexMath,
  MinMax,
  Search,
  Sort,
  Scratch,
  OwnScratch,
  Resize,
  Append,
  Stream,
  Splat,
  Quotient,
  Whole,
  AtomicUpdate,
  AtomicAdd,
  WarpReduce,
  WarpSort,
  Claim,
  Copies
};

/// What an expression turned out to need around it.
struct Needs {
  std::set<Helper> helpers;
  std::set<std::pair<ScalarType, int>> vectors;  // element type and lanes
};

class ExprText {
 public:
  ExprText(const Spelling& spelling, ir::ScopedNames& names, Needs& needs)
      : spelling_(spelling), names_(names), needs_(needs) {}

  /// As an operand of something that binds with `outer`; its C type is exactly that of the expression.
  std::string exact(const ir::Expr& e, int outer = 0);
  /// For a place that converts to the expression's type by itself: an initialiser, an assignment, an argument.
  std::string converted(const ir::Expr& e);
  /// For a place that takes an integer of any width: an index, a bound.
  std::string index(const ir::Expr& e, int outer = 0);
  /// From here on, vectors of an array at an offset are taken from a pointer to that row.
  void use_row(const ir::Var& array, const ir::Var& offset, const ir::Var& row) {
    rows_.insert_or_assign({array.symbol, offset.symbol}, row);
  }
  /// &array[index], or array where the index is 0.
  std::string address(const ir::Var& array, const ir::Expr& index);
  std::string type(const ir::Type& type);

 private:
  /// Text with how tightly it binds and the scalar type that C gives it.
  struct Text {
    std::string text;
    int level;
    ScalarType type;
  };
  Text parts(const ir::Expr& e);
  /// As parts, but a conversion that widens is left out and a literal is as short as it can be.
  Text loose(const ir::Expr& e);
  Text literal(const ir::Scalar& value);
  Text binary(const ir::Binary& n);
  /// A call of a helper that the lanes of a warp make together.
  std::string warp_text(std::string_view lead, ir::BinaryOp op, int width, const ir::Expr& value);
  /// Two operands that C brings to `common` by itself.
  std::pair<Text, Text> pair(const ir::Expr& a, const ir::Expr& b, ScalarType common);
  static std::string wrapped(const Text& t, int outer);

  const Spelling& spelling_;
  ir::ScopedNames& names_;
  Needs& needs_;
  std::map<std::pair<Symbol, Symbol>, ir::Var> rows_;  // by array and offset
};

}  // namespace spdistal::codegen
