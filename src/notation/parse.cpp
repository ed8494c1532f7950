#include "notation/parse.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <limits>

#include "base/text.hpp"

namespace spdistal::notation {
namespace {

// "2.5f": the digits as a number, the letters as its type. The sign belongs to it: there is an int32 -2147483648.
Scalar parse_number(Lexer& in, const Token& token, std::string sign = "") {
  std::string signed_text = sign + std::string(token.text);
  std::string_view text = signed_text;
  size_t split = text.size();
  while (split > 0 && std::isalpha(static_cast<unsigned char>(text[split - 1]))) split--;
  std::string_view digits = text.substr(0, split), suffix = text.substr(split);
  auto read = [&](auto value) {
    auto [stop, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (error == std::errc::result_out_of_range)
      in.fail(token, fmt::format("{} is out of the range of {}", text, name_of(Scalar(value).type())),
              std::is_integral_v<decltype(value)>      ? fmt::format("write a double: {}.0", digits)
              : std::is_same_v<decltype(value), float> ? "leave out the f: a double reaches further"
                                                       : "the largest double is about 1.8e308; write inf for infinity");
    if (error != std::errc{} || stop != digits.data() + digits.size())
      in.fail(token, fmt::format("'{}' is no number", text));
    return value;
  };
  bool whole = digits.find_first_of(".eE") == digits.npos;
  if (suffix.empty() && whole) {
    int64_t value = read(int64_t{});
    if (value == int32_t(value)) return int32_t(value);
    return value;
  }
  if (suffix.empty()) return read(double{});
  if (suffix == "L" && whole) return read(int64_t{});
  if (suffix == "f") return read(float{});
  if (suffix == "L") in.fail(token, fmt::format("'{}' is no number", text), "L is for whole numbers");
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

Expr parse_unary(Lexer& in, ParseScope& scope);

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

std::vector<std::string> function_names() {
  std::vector<std::string> out{"map"};
  for (const OperationInfo& operation : operations())
    if (!operation.reduction.empty()) out.emplace_back(operation.reduction);
  for (const FunctionInfo& function : functions()) out.emplace_back(function.name);
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

// Which of several values to take is nothing that one value is mapped to.
bool maps(const FunctionInfo& function) { return function.function != Function::Select; }

std::vector<std::string> names_to_map_by() {
  std::vector<std::string> out;
  for (const FunctionInfo& function : functions())
    if (maps(function)) out.emplace_back(function.name);
  return out;
}

const FunctionInfo* find_function(std::string_view name) {
  for (const FunctionInfo& function : functions())
    if (function.name == name) return &function;
  return nullptr;
}

void check_arguments(const Lexer& in, size_t begin, size_t end, const FunctionInfo& function,
                     const std::vector<Expr>& args) {
  if (args.size() != function.arity)
    in.fail(begin, end,
            fmt::format("{} takes {} argument{}, not {}", function.name, function.arity, function.arity == 1 ? "" : "s",
                        args.size()));
  using enum FunctionInfo::Types;
  bool complex = std::any_of(args.begin(), args.end(), [](const Expr& arg) { return is_complex(type_of(arg)); });
  if (complex && function.types == Ordered)
    in.fail(begin, end, fmt::format("{}: complex numbers have no order", function.name), "compare their abs(…)");
  if (complex && function.types == Real)
    in.fail(begin, end, fmt::format("{} is a function of real numbers", function.name), "take abs(…) first");
}

Expr parse_call(Lexer& in, const Token& name, const FunctionInfo& function, ParseScope& scope) {
  in.expect("(", fmt::format("{} is a function: write {}(…)", function.name, function.name));
  std::vector<Expr> args;
  do args.push_back(parse_expression(in, scope));
  while (in.accept(","));
  Token close = in.expect(")");
  check_arguments(in, name.begin, close.end, function, args);
  return Call{function.function, args};
}

// map(A(i,j), exp), map(A(i,j), pow, 2): the function's other arguments follow its name.
Expr parse_map(Lexer& in, ParseScope& scope) {
  constexpr std::string_view how = "what is stored is mapped by a function: map(A(i,j), exp)";
  Token word = in.next();
  in.expect("(", how);
  std::vector<Expr> args{parse_expression(in, scope)};
  in.expect(",", how);
  Token name = in.expect_name("the name of a function", how);
  const FunctionInfo* function = find_function(name.text);
  if (!function || !maps(*function))
    in.fail(name, fmt::format("there is no function '{}' to map by", name.text),
            suggest(name.text, names_to_map_by(), "the functions are"));
  while (in.accept(",")) args.push_back(parse_expression(in, scope));
  Token close = in.expect(")", args.size() < function->arity ? "the other arguments follow: map(A(i,j), pow, 2)" : "");
  check_arguments(in, word.begin, close.end, *function, args);
  return Call{function->function, args, Domain::Stored};
}

const OperationInfo* find_reduction(std::string_view name) {
  for (const OperationInfo& operation : operations())
    if (!operation.reduction.empty() && operation.reduction == name) return &operation;
  return nullptr;
}

void check_reduced(const Lexer& in, size_t begin, size_t end, const OperationInfo& operation, const Expr& body) {
  bool ordered = operation.op == AssignOp::Min || operation.op == AssignOp::Max;
  if (ordered && is_complex(type_of(body)))
    in.fail(begin, end, fmt::format("{}: complex numbers have no order", operation.reduction), "compare their abs(…)");
}

Expr parse_reduction(Lexer& in, const OperationInfo& operation, ParseScope& scope) {
  std::string how = fmt::format("it is written {}(j, B(i,j))", operation.reduction);
  Token word = in.next();
  in.expect("(", how);
  Token var =
      in.expect_name(operation.op == AssignOp::Add ? "the variable to sum over" : "the variable to reduce over");
  in.expect(",", how);
  Expr body = parse_expression(in, scope);
  Token close = in.expect(")");
  const IndexVar& over = scope.variable(var.text);
  if (!uses(body, over))
    in.fail(word.begin, close.end,
            fmt::format("{} does not stand in the expression that is {} over it", var.text, operation.done),
            operation.op == AssignOp::Add ? "sum over a variable that it uses" : "name a variable that it uses");
  check_reduced(in, word.begin, close.end, operation, body);
  return Reduction{operation.op, over, body};
}

// Does a name index something in the argument that begins so many tokens ahead, and is that argument the last?
bool indexes_last_argument(const Lexer& in, std::string_view name, size_t ahead) {
  bool used = false;
  std::vector<bool> of_access;  // of the parentheses that are open
  for (;; ahead++) {
    const Token& token = in.peek(ahead);
    if (token.kind == Token::Kind::End) return false;
    if (token.text == "(") {
      const Token& owner = in.peek(ahead - 1);
      of_access.push_back(owner.kind == Token::Kind::Name && !is_reserved(owner.text));
    } else if (token.text == ")") {
      if (of_access.empty()) return used;
      of_access.pop_back();
    } else if (token.text == "," && of_access.empty()) {
      return false;
    } else if (token.text == name) {
      used |= !of_access.empty() && of_access.back();
    }
  }
}

// min(j, …) reduces where j indexes something in it; else j is a scalar, and min a function of two numbers.
bool reduces(const Lexer& in, const ParseScope& scope) {
  const Token& var = in.peek(2);
  if (in.peek(1).text != "(" || var.kind != Token::Kind::Name || in.peek(3).text != ",") return false;
  if (scope.tensors.contains(var.text) || is_reserved(var.text)) return false;
  if (indexes_last_argument(in, var.text, 4)) return true;
  if (!scope.declare)
    in.fail(var, fmt::format("{} does not stand in the expression that is reduced over it", var.text),
            "name a variable that it uses, or a tensor");
  return false;
}

bool second_star(const Lexer& in, const Token& token) {
  return token.text == "*" && token.begin > 0 && in.source()[token.begin - 1] == '*';
}

Expr parse_unary(Lexer& in, ParseScope& scope) {
  Lexer::Nested nested(in);
  Token token = in.peek();
  if (in.accept("-")) {
    // A minus directly before a number is the number's sign.
    Token number = in.peek();
    if (number.kind == Token::Kind::Number) return in.next(), Expr(Literal{parse_number(in, number, "-")});
    if (number.text == "inf") return in.next(), Expr(Literal{-std::numeric_limits<double>::infinity()});
    if (number.text == "inff") return in.next(), Expr(Literal{-std::numeric_limits<float>::infinity()});
    return Neg{parse_unary(in, scope)};
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
    in.fail(token,
            token.kind == Token::Kind::End ? "the text ends where a tensor or a number should stand"
                                           : fmt::format("expected a tensor or a number, found '{}'", token.text),
            token.text == "="        ? "a statement has one ="
            : token.text == "!"      ? "that something does not hold is written x == 0"
            : second_star(in, token) ? "a power is written pow(x, 2)"
                                     : "");
  std::string_view word = token.text;
  if (word == "map") return parse_map(in, scope);
  const OperationInfo* reduction = find_reduction(word);
  const FunctionInfo* function = find_function(word);
  if (reduction && (!function || reduces(in, scope))) return parse_reduction(in, *reduction, scope);
  if (function) return in.next(), parse_call(in, token, *function, scope);
  if (word == "true" || word == "false") return in.next(), Expr(Literal{word == "true"});
  if (word == "nan") return in.next(), Expr(Literal{std::numeric_limits<double>::quiet_NaN()});
  if (word == "inf") return in.next(), Expr(Literal{std::numeric_limits<double>::infinity()});
  if (word == "nanf") return in.next(), Expr(Literal{std::numeric_limits<float>::quiet_NaN()});
  if (word == "inff") return in.next(), Expr(Literal{std::numeric_limits<float>::infinity()});
  if (word == "complex" || word == "complexf") return in.next(), parse_complex(in, word == "complexf");
  return parse_access(in, scope);
}

// Longer statements would make trees too deep to walk.
constexpr size_t kLongest = 10'000;

// What was meant, where something else than = follows the left side.
std::string_view after_left_side(const Lexer& in) {
  if (in.at("[")) return "indices stand in parentheses: a(i)";
  if (in.at("==")) return "a statement has one =, and == compares";
  if (in.at("-") && in.peek(1).text == "=") return "there are =, +=, *=, min=, max=, |= and &=: write a(i) += -(…)";
  if (in.at("/")) return "there are =, +=, *=, min=, max=, |= and &=: write a(i) = a(i) / (…)";
  return "a statement is written a(i) = B(i,j) * c(j)";
}

// =, +=, min=, …
AssignOp parse_assign_op(Lexer& in) {
  for (const OperationInfo& operation : operations())
    if (operation.op != AssignOp::Set && in.accept(operation.assignment)) return operation.op;
  if (in.peek().kind == Token::Kind::Name && in.peek(1).text == "=" && in.peek(1).begin == in.peek().end) {
    Token word = in.next();
    std::string together = std::string(word.text) + "=";
    for (const OperationInfo& operation : operations())
      if (operation.assignment == together) return in.next(), operation.op;
    std::vector<std::string> all;
    for (const OperationInfo& operation : operations()) all.emplace_back(operation.assignment);
    in.fail(word.begin, in.peek().end, fmt::format("there is no assignment '{}'", together),
            suggest(together, all, "there are"));
  }
  in.expect("=", after_left_side(in));
  return AssignOp::Set;
}
// And where something follows the right side.
std::string_view after_right_side(const Lexer& in) {
  if (in.at("^")) return "a power is written pow(x, 2)";
  if (in.at("=")) return "a statement has one =";
  if (in.at(";")) return "give one statement at a time";
  if (in.at("[") || in.at("{")) return "indices stand in parentheses: a(i)";
  if (in.at(")")) return "there is no '(' for it";
  if (in.peek().kind == Token::Kind::Name || in.peek().kind == Token::Kind::Number || in.at("("))
    return "write an operator between the two: + - * /";
  return "";
}

std::optional<BinaryOp> comparison(const Lexer& in) {
  static constexpr std::pair<std::string_view, BinaryOp> all[] = {{"<", BinaryOp::Lt},  {"<=", BinaryOp::Le},
                                                                  {">", BinaryOp::Gt},  {">=", BinaryOp::Ge},
                                                                  {"==", BinaryOp::Eq}, {"!=", BinaryOp::Ne}};
  for (const auto& [symbol, op] : all)
    if (in.at(symbol)) return op;
  return std::nullopt;
}

Expr parse_product(Lexer& in, ParseScope& scope) {
  Expr left = parse_unary(in, scope);
  while (in.at("*") || in.at("/")) {
    BinaryOp op = in.next().text == "*" ? BinaryOp::Mul : BinaryOp::Div;
    left = Binary{op, left, parse_unary(in, scope)};
  }
  return left;
}

Expr parse_sum(Lexer& in, ParseScope& scope) {
  Expr left = parse_product(in, scope);
  while (in.at("+") || in.at("-")) {
    BinaryOp op = in.next().text == "+" ? BinaryOp::Add : BinaryOp::Sub;
    left = Binary{op, left, parse_product(in, scope)};
  }
  return left;
}

Expr parse_comparison(Lexer& in, ParseScope& scope) {
  size_t begin = in.peek().begin;
  Expr left = parse_sum(in, scope);
  std::optional<BinaryOp> op = comparison(in);
  if (!op) return left;
  Token symbol = in.next();
  Expr right = parse_sum(in, scope);
  if (comparison(in))
    in.fail(in.peek(), "comparisons are not chained", "write a & between two of them: (a < b) & (b < c)");
  bool complex = is_complex(type_of(left)) || is_complex(type_of(right));
  if (complex && *op != BinaryOp::Eq && *op != BinaryOp::Ne)
    in.fail(begin, in.previous_end(), fmt::format("{}: complex numbers have no order", symbol.text),
            "compare their abs(…)");
  return Binary{*op, left, right};
}

Expr parse_and(Lexer& in, ParseScope& scope) {
  Expr left = parse_comparison(in, scope);
  while (in.accept("&")) left = Binary{BinaryOp::And, left, parse_comparison(in, scope)};
  return left;
}

}  // namespace

const IndexVar& ParseScope::variable(std::string_view name) {
  auto known = variables.find(name);
  if (known == variables.end()) known = variables.emplace(std::string(name), IndexVar(std::string(name))).first;
  return known->second;
}

const TensorVar& ParseScope::tensor(const Lexer& in, const Token& name) const {
  if (auto known = tensors.find(name.text); known != tensors.end()) return known->second;
  std::vector<std::string> names;
  for (const auto& [other, tensor] : tensors) names.push_back(other);
  in.fail(name, fmt::format("there is no tensor '{}' in the statement", name.text),
          suggest(name.text, names, "its tensors are"));
}

bool is_reserved(std::string_view name) {
  static constexpr std::string_view words[] = {"map",  "true", "false",   "nan",     "inf",
                                               "nanf", "inff", "complex", "complexf"};
  return std::find(std::begin(words), std::end(words), name) != std::end(words) || find_reduction(name) ||
         find_function(name);
}

Expr parse_expression(Lexer& in, ParseScope& scope) {
  Expr left = parse_and(in, scope);
  while (in.accept("|")) left = Binary{BinaryOp::Or, left, parse_and(in, scope)};
  return left;
}

Access parse_access(Lexer& in, ParseScope& scope) {
  Token name = in.expect_name("the name of a tensor");
  if (is_reserved(name.text))
    in.fail(name, fmt::format("'{}' is a word of the language and cannot name a tensor", name.text),
            "give the tensor another name");
  std::vector<IndexVar> indices;
  if (in.accept("(") && !in.accept(")")) {
    do {
      indices.push_back(parse_index(in, scope));
      if (in.at("("))
        in.fail(name, fmt::format("there is no function '{}'", name.text),
                suggest(name.text, function_names(), "the functions are"));
    } while (in.accept(","));
    in.expect(")", "an index is a variable i, i+1, a window i(2,10) or a coordinate, and commas stand between: B(i,j)");
  }
  if (scope.declare && !scope.tensors.contains(name.text))
    scope.tensors.emplace(std::string(name.text), scope.declare(in, name, indices));
  const TensorVar& tensor = scope.tensor(in, name);
  if (tensor.order() != indices.size())
    in.fail(name.begin, in.previous_end(),
            fmt::format("{} has {} dimension{} but is indexed by {} variable{}", name.text, tensor.order(),
                        tensor.order() == 1 ? "" : "s", indices.size(), indices.size() == 1 ? "" : "s"),
            "every access has one variable for each dimension");
  return Access{tensor, std::move(indices)};
}

Assignment parse_assignment(std::string_view text, ParseScope& scope) {
  Lexer in(text, "statement");
  if (in.at_end()) in.fail(in.peek(), "the statement is empty", "a statement is written a(i) = B(i,j) * c(j)");
  if (in.size() > kLongest)
    in.fail(in.peek(), fmt::format("the statement has more than {} words", kLongest),
            "compute it in several statements");
  Access lhs = parse_access(in, scope);
  AssignOp op = parse_assign_op(in);
  Expr rhs = parse_expression(in, scope);
  if (!in.at_end())
    in.fail(in.peek(), fmt::format("expected the end of the statement, found '{}'", in.peek().text),
            std::string(after_right_side(in)));
  return {std::move(lhs), op, std::move(rhs)};
}

}  // namespace spdistal::notation
