// Printing gives text that parses to the same tree: on random expressions of all kinds.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <random>

#include "notation/parse.hpp"
#include "notation/print.hpp"

namespace spdistal::notation {
namespace {

class Generator {
 public:
  explicit Generator(uint64_t seed) : random_(seed) {
    for (const char* name : {"i", "j", "k", "i'"}) {
      vars_.emplace_back(name);
      scope.variables.emplace(name, vars_.back());
    }
    for (size_t order = 0; order <= 3; order++)
      for (ScalarType type : all_scalar_types) {
        std::string name = "T" + std::to_string(order) + std::string(name_of(type));
        TensorVar tensor({Symbol(name), type, std::vector<Extent>(order, Extent(4)), dense_format(order)});
        tensors_.push_back(tensor);
        scope.tensors.emplace(name, tensor);
      }
  }

  ParseScope scope;

  Expr expression(int depth) {
    switch (depth <= 0 ? pick(2) : pick(9)) {
      case 0: return access();
      case 1: return literal();
      case 2: return Neg{expression(depth - 1)};
      case 3: return call(depth);
      case 4: {
        IndexVar var = vars_[pick(vars_.size())];
        Expr use = Access{tensor_of(1), {var}};
        Expr body = Binary{BinaryOp(pick(4)), use, expression(depth - 1)};
        auto op = AssignOp(1 + pick(6));
        bool ordered = op == AssignOp::Min || op == AssignOp::Max;
        return Reduction{ordered && is_complex(type_of(body)) ? AssignOp::Add : op, var, body};
      }
      default: return binary(expression(depth - 1), expression(depth - 1));
    }
  }
  Access access() {
    TensorVar tensor = tensors_[pick(tensors_.size())];
    std::vector<IndexVar> indices;
    for (size_t d = 0; d < tensor.order(); d++) indices.push_back(index());
    return {tensor, indices};
  }
  IndexVar index() {
    const IndexVar& var = vars_[pick(vars_.size())];
    auto first = int64_t(pick(3));
    switch (pick(8)) {
      case 0: return var + (first + 1);
      case 1: return 2 * var + first;
      case 2: return var(first, first + int64_t(pick(4)));
      case 3: return var(first, first + int64_t(pick(4)), 1 + int64_t(pick(3)));
      case 4: return IndexVar::at(first);
      default: return var;
    }
  }
  size_t pick(size_t n) { return size_t(random_() % n); }

 private:
  TensorVar tensor_of(size_t order) {
    while (true)
      if (TensorVar tensor = tensors_[pick(tensors_.size())]; tensor.order() == order) return tensor;
  }
  Expr literal() {
    double value = double(int64_t(random_() % 2000) - 1000) / (pick(2) ? 1 : 8);
    switch (pick(8)) {
      case 0: return Literal{pick(2) == 0};
      case 1: return Literal{int32_t(value)};
      case 2: return Literal{int64_t(random_())};
      case 3: return Literal{float(value)};
      case 4: return Literal{value};
      case 5: return Literal{std::complex<float>(float(value), float(pick(5)))};
      case 6: return Literal{std::complex<double>(double(pick(3)), value)};
      default: {
        double special[] = {0.0, -0.0, INFINITY, -INFINITY, NAN};
        return Literal{special[pick(5)]};
      }
    }
  }
  Expr call(int depth) {
    const FunctionInfo& function = functions()[pick(functions().size())];
    std::vector<Expr> args;
    while (args.size() < function.arity) args.push_back(expression(depth - 1));
    using enum FunctionInfo::Types;
    bool complex = std::any_of(args.begin(), args.end(), [](const Expr& arg) { return is_complex(type_of(arg)); });
    if (complex && (function.types == Ordered || function.types == Real)) return Call{Function::Abs, {args[0]}};
    bool maps = function.function != Function::Select && pick(3) == 0;
    return Call{function.function, args, maps ? Domain::Stored : Domain::Everywhere};
  }
  Expr binary(const Expr& a, const Expr& b) {
    auto op = BinaryOp(pick(12));
    bool ordered = is_comparison(op) && op != BinaryOp::Eq && op != BinaryOp::Ne;
    if (ordered && (is_complex(type_of(a)) || is_complex(type_of(b)))) op = BinaryOp::Mul;
    return Binary{op, a, b};
  }

  std::mt19937_64 random_;
  std::vector<IndexVar> vars_;
  std::vector<TensorVar> tensors_;
};

TEST(RoundTrip, ThirtyThousandRandomExpressionsParseToWhatWasPrinted) {
  Generator generate(20221113);
  std::map<size_t, int> kinds;
  for (int round = 0; round < 30000; round++) {
    Expr expr = generate.expression(int(generate.pick(6)));
    kinds[(*expr).index()]++;
    std::string text = print(expr);
    Lexer in(text, "expression");
    Expr parsed = parse_expression(in, generate.scope);
    ASSERT_TRUE(in.at_end()) << text;
    ASSERT_TRUE(parsed == expr) << text << "\n" << print(parsed);
    ASSERT_EQ(std::hash<Expr>{}(parsed), std::hash<Expr>{}(expr)) << text;
  }
  EXPECT_EQ(kinds.size(), 6u) << "those that text has: numbers of the host come from C++";
  for (auto [kind, count] : kinds) EXPECT_GT(count, 1000) << "each is at the root now and then";
}

TEST(RoundTrip, StatementsToo) {
  Generator generate(4711);
  for (int round = 0; round < 2000; round++) {
    Assignment assignment{generate.access(), AssignOp(generate.pick(2)), generate.expression(4)};
    std::string text = print(assignment);
    Assignment parsed = parse_assignment(text, generate.scope);
    ASSERT_TRUE(structurally_equal(parsed, assignment)) << text;
  }
}

// Text that is cut short or has a byte changed is read or refused, and nothing else.
TEST(RoundTrip, DamagedTextNeverCrashesTheParser) {
  Generator generate(99);
  std::mt19937 random(99);
  size_t refused = 0;
  for (int round = 0; round < 20000; round++) {
    std::string text = print(Assignment{generate.access(), AssignOp::Set, generate.expression(3)});
    for (size_t damage = 0; damage <= random() % 3; damage++) {
      size_t at = random() % text.size();
      if (random() % 3 == 0) text.resize(at + 1);
      else text[at] = char(random() % 256);
    }
    try {
      parse_assignment(text, generate.scope);
    } catch (const UserError& error) {
      refused++;
      EXPECT_FALSE(error.diagnostic().excerpts.empty()) << error.what();
    }
  }
  EXPECT_GT(refused, 10000u);
}

TEST(RoundTrip, TextThatIsNestedTooDeeplyIsRefused) {
  Generator generate(1);
  for (const char* open : {"(", "-", "sqrt(", "sum(i, "}) {
    std::string deep;
    for (int k = 0; k < 100000; k++) deep += open;
    try {
      parse_assignment("T0double = " + deep, generate.scope);
      FAIL() << open;
    } catch (const UserError& error) {
      EXPECT_EQ(error.diagnostic().message, "the statement has more than 10000 words");
    }
  }
  std::string some(300, '(');
  try {
    parse_assignment("T0double = " + some, generate.scope);
    FAIL();
  } catch (const UserError& error) { EXPECT_EQ(error.diagnostic().message, "the statement is nested too deeply"); }
  std::string fine = std::string(100, '(') + "1" + std::string(100, ')');
  EXPECT_NO_THROW(parse_assignment("T0double = " + fine, generate.scope));
}

TEST(RoundTrip, LongSumsAreRead) {
  Generator generate(1);
  std::string text = "T0double = 1";
  for (int k = 0; k < 3000; k++) text += " + 1";
  EXPECT_EQ(print(parse_assignment(text, generate.scope)), text);
}

}  // namespace
}  // namespace spdistal::notation
