#include "notation/parse.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <limits>

#include "base/text.hpp"

namespace spdistal::notation {
namespace {

// "2.5f": the digits as a number, the letters as its type.
Scalar parse_number(Lexer& in, const Token& token) {
  std::string_view text = token.text;
  size_t split = text.size();
  while (split > 0 && std::isalpha(static_cast<unsigned char>(text[split - 1]))) split--;
  std::string_view digits = text.substr(0, split), suffix = text.substr(split);
  auto read = [&](auto value) {
    auto [stop, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (error == std::errc::result_out_of_range)
      in.fail(token, fmt::format("{} is out of the range of its type", text), "write it as a double: 1e30");
    if (error != std::errc{} || stop != digits.data() + digits.size())
      in.fail(token, fmt::format("'{}' is no number", text));
    return value;
  };
  bool whole = digits.find_first_of(".eE") == digits.npos;
  if (suffix.empty() && whole) {
    int64_t value = read(int64_t{});
    if (value <= std::numeric_limits<int32_t>::max()) return int32_t(value);
    return value;
  }
  if (suffix.empty()) return read(double{});
  if (suffix == "L" && whole) return read(int64_t{});
  if (suffix == "f") return read(float{});
  in.fail(token, fmt::format("'{}' is no number", text), "the suffixes are L (64-bit integer) and f (float)");
}

double real_part(const Scalar& value) {
  return std::visit(
      [](auto v) -> double {
        if constexpr (requires { v.real(); }) return double(v.real());
        else return double(v);
      },
      static_cast<const ScalarVariant&>(value));
}

Scalar negated(const Scalar& value) {
  return std::visit([](auto v) -> Scalar { return static_cast<decltype(v)>(-v); },
                    static_cast<const ScalarVariant&>(value));
}

Expr parse_unary(Lexer& in, Scope& scope);

// complex(1.0, 2.0) and complexf(…): each part a number with an optional sign.
Expr parse_complex(Lexer& in, bool single) {
  auto part = [&] {
    bool negative = in.accept("-");
    Token token = in.next();
    double value = 0;
    if (token.kind == Token::Kind::Number) value = real_part(parse_number(in, token));
    else if (token.text == "nan") value = std::numeric_limits<double>::quiet_NaN();
    else if (token.text == "inf") value = std::numeric_limits<double>::infinity();
    else in.fail(token, "a complex number has two numbers", "write complex(1.0, 2.0)");
    return negative ? -value : value;
  };
  in.expect("(");
  double re = part();
  in.expect(",", "a complex number has two parts: complex(1.0, 2.0)");
  double im = part();
  in.expect(")");
  if (single) return Literal{std::complex<float>(float(re), float(im))};
  return Literal{std::complex<double>(re, im)};
}

Expr parse_call(Lexer& in, const Token& name, const FunctionInfo& function, Scope& scope) {
  in.expect("(", fmt::format("{} is a function", function.name));
  std::vector<Expr> args;
  do args.push_back(parse_expression(in, scope));
  while (in.accept(","));
  Token close = in.expect(")");
  if (args.size() != function.arity)
    in.fail(name.begin, close.end,
            fmt::format("{} takes {} argument{}, not {}", function.name, function.arity, function.arity == 1 ? "" : "s",
                        args.size()));
  Expr call = Call{function.function, args};
  bool ordered = function.function == Function::Min || function.function == Function::Max;
  if (ordered && is_complex(type_of(call)))
    in.fail(name.begin, close.end, fmt::format("{}: complex numbers have no order", function.name));
  return call;
}

Expr parse_unary(Lexer& in, Scope& scope) {
  Token token = in.peek();
  if (in.accept("-")) {
    // A minus directly before a number is the number's sign.
    bool number = in.peek().kind == Token::Kind::Number || in.peek().text == "inf" || in.peek().text == "inff";
    Expr inner = parse_unary(in, scope);
    return number ? Expr(Literal{negated(inner.as<Literal>()->value)}) : Expr(Neg{inner});
  }
  if (in.accept("(")) {
    Expr inner = parse_expression(in, scope);
    in.expect(")");
    return inner;
  }
  if (token.kind == Token::Kind::Number) {
    in.next();
    return Literal{parse_number(in, token)};
  }
  if (token.kind != Token::Kind::Name)
    in.fail(token, token.kind == Token::Kind::End
                       ? "the statement ends where a tensor or a number should stand"
                       : fmt::format("expected a tensor or a number, found '{}'", token.text));
  std::string_view word = token.text;
  for (const FunctionInfo& function : functions())
    if (function.name == word) {
      in.next();
      return parse_call(in, token, function, scope);
    }
  if (word == "true" || word == "false") return in.next(), Expr(Literal{word == "true"});
  if (word == "nan") return in.next(), Expr(Literal{std::numeric_limits<double>::quiet_NaN()});
  if (word == "inf") return in.next(), Expr(Literal{std::numeric_limits<double>::infinity()});
  if (word == "nanf") return in.next(), Expr(Literal{std::numeric_limits<float>::quiet_NaN()});
  if (word == "inff") return in.next(), Expr(Literal{std::numeric_limits<float>::infinity()});
  if (word == "complex" || word == "complexf") return in.next(), parse_complex(in, word == "complexf");
  if (word == "sum") {
    in.next();
    in.expect("(", "an explicit sum is written sum(j, B(i,j))");
    Token var = in.expect_name("the variable to sum over");
    in.expect(",");
    Expr body = parse_expression(in, scope);
    Token close = in.expect(")");
    const IndexVar& over = scope.variable(var.text);
    if (!uses(body, over))
      in.fail(token.begin, close.end,
              fmt::format("{} does not stand in the expression that is summed over it", var.text));
    return Sum{over, body};
  }
  return parse_access(in, scope);
}

Expr parse_product(Lexer& in, Scope& scope) {
  Expr left = parse_unary(in, scope);
  while (in.at("*") || in.at("/")) {
    BinaryOp op = in.next().text == "*" ? BinaryOp::Mul : BinaryOp::Div;
    left = Binary{op, left, parse_unary(in, scope)};
  }
  return left;
}

}  // namespace

const IndexVar& Scope::variable(std::string_view name) {
  auto known = variables.find(name);
  if (known == variables.end()) known = variables.emplace(std::string(name), IndexVar(std::string(name))).first;
  return known->second;
}

const TensorVar& Scope::tensor(const Lexer& in, const Token& name) const {
  if (auto known = tensors.find(name.text); known != tensors.end()) return known->second;
  std::vector<std::string> names;
  for (const auto& [other, tensor] : tensors) names.push_back(other);
  in.fail(name, fmt::format("there is no tensor '{}' in the statement", name.text),
          suggest(name.text, names, "its tensors are"));
}

bool is_reserved(std::string_view name) {
  static constexpr std::string_view words[] = {"sum",  "true", "false",   "nan",     "inf",
                                               "nanf", "inff", "complex", "complexf"};
  return std::find(std::begin(words), std::end(words), name) != std::end(words) ||
         std::any_of(functions().begin(), functions().end(), [&](const FunctionInfo& f) { return f.name == name; });
}

Expr parse_expression(Lexer& in, Scope& scope) {
  Expr left = parse_product(in, scope);
  while (in.at("+") || in.at("-")) {
    BinaryOp op = in.next().text == "+" ? BinaryOp::Add : BinaryOp::Sub;
    left = Binary{op, left, parse_product(in, scope)};
  }
  return left;
}

Access parse_access(Lexer& in, Scope& scope) {
  Token name = in.expect_name("the name of a tensor");
  if (is_reserved(name.text))
    in.fail(name, fmt::format("'{}' is the name of a function and cannot name a tensor", name.text));
  std::vector<IndexVar> indices;
  if (in.accept("(") && !in.accept(")")) {
    do {
      if (in.peek().kind == Token::Kind::Number)
        in.fail(in.peek(), "an index is a variable, not a number",
                "to take one slice, copy it into a tensor of its own first");
      indices.push_back(scope.variable(in.expect_name("an index variable").text));
    } while (in.accept(","));
    in.expect(")");
  }
  if (scope.declare && !scope.tensors.contains(name.text))
    scope.tensors.emplace(std::string(name.text), scope.declare(in, name, indices));
  const TensorVar& tensor = scope.tensor(in, name);
  if (tensor.order() != indices.size())
    in.fail(name.begin, in.previous_end(),
            fmt::format("{} has {} dimension{} but is indexed by {} variable{}", name.text, tensor.order(),
                        tensor.order() == 1 ? "" : "s", indices.size(), indices.size() == 1 ? "" : "s"));
  return Access{tensor, std::move(indices)};
}

Assignment parse_assignment(std::string_view text, Scope& scope) {
  Lexer in(text, "statement");
  if (in.at_end()) in.fail(in.peek(), "the statement is empty", "a statement is written a(i) = B(i,j) * c(j)");
  Access lhs = parse_access(in, scope);
  AssignOp op = AssignOp::Set;
  if (in.accept("+=")) op = AssignOp::Add;
  else in.expect("=", "a statement is written a(i) = B(i,j) * c(j)");
  Expr rhs = parse_expression(in, scope);
  in.expect_end();
  return {std::move(lhs), op, std::move(rhs)};
}

}  // namespace spdistal::notation
