// Index notation from text, with the meaning that the C++ operators have.
//
//   statement  = access ("=" | "+=") sum
//   sum        = product (("+" | "-") product)*
//   product    = unary (("*" | "/") unary)*
//   unary      = "-" unary | "(" sum ")" | number | "true" | "false" | "nan" | "inf"
//              | function "(" sum, … ")" | "sum" "(" variable "," sum ")" | "complex" "(" number "," number ")" | access
//   access     = name [ "(" [ index ("," index)* ] ")" ]      index: see `parse_index.cpp`
#pragma once
#include <functional>
#include <map>
#include <string_view>

#include "base/lexer.hpp"
#include "notation/index_notation.hpp"

namespace spdistal::notation {

/// What names stand for while text is read. An index variable comes to be where it is first named; a tensor that is not
/// known is declared where `declare` allows it, and an error otherwise.
struct ParseScope {
  std::map<std::string, TensorVar, std::less<>> tensors = {};
  std::map<std::string, IndexVar, std::less<>> variables = {};
  std::function<TensorVar(const Lexer& in, const Token& name, const std::vector<IndexVar>& indices)> declare = {};

  const IndexVar& variable(std::string_view name);
  /// A tensor that must be known.
  const TensorVar& tensor(const Lexer& in, const Token& name) const;
};

/// Reads a whole statement. Errors are UserErrors that point at the place.
Assignment parse_assignment(std::string_view text, ParseScope& scope);
/// Reads an expression from where the lexer stands.
Expr parse_expression(Lexer& in, ParseScope& scope);
Access parse_access(Lexer& in, ParseScope& scope);
IndexVar parse_index(Lexer& in, ParseScope& scope);

/// Words that cannot name a tensor.
bool is_reserved(std::string_view name);

}  // namespace spdistal::notation
