// A variable that stands on the right only is summed over the smallest sub-expression that holds all its uses.
#include <gtest/gtest.h>

#include "notation/check.hpp"
#include "notation/print.hpp"
#include "unit/notation/statements.hpp"

namespace spdistal::notation {
namespace {

struct Row {
  const char *written, *meant;
};

TEST(Sums, AreOverTheSmallestSubExpressionThatHoldsAllUses) {
  const Row rows[] = {
      {"a(i) = b(i)", "a(i) = b(i)"},
      {"a(i) = B(i,j)", "a(i) = sum(j, B(i,j))"},
      {"a(i) = B(i,j) * c(j)", "a(i) = sum(j, B(i,j) * c(j))"},
      {"a(i) += B(i,j) * c(j)", "a(i) += sum(j, B(i,j) * c(j))"},
      {"a(i) = b(i) + B(i,j) * c(j)", "a(i) = b(i) + sum(j, B(i,j) * c(j))"},
      {"a(i) = B(i,j) * c(j) + b(i)", "a(i) = sum(j, B(i,j) * c(j)) + b(i)"},
      {"a(i) = B(i,j) * c(j) + D(i,j)", "a(i) = sum(j, B(i,j) * c(j) + D(i,j))"},
      {"a(i) = B(i,j) * c(j) + D(i,k) * e(k)", "a(i) = sum(j, B(i,j) * c(j)) + sum(k, D(i,k) * e(k))"},
      {"a(i) = b(i) * (B(i,j) * c(j))", "a(i) = b(i) * sum(j, B(i,j) * c(j))"},
      {"a(i) = b(i) * B(i,j) * c(j)", "a(i) = sum(j, b(i) * B(i,j) * c(j))"},
      {"a(i) = B(i,j) * b(i)", "a(i) = sum(j, B(i,j)) * b(i)"},
      {"a(i) = sqrt(B(i,j))", "a(i) = sqrt(sum(j, B(i,j)))"},
      {"a(i) = sqrt(B(i,j) * c(j)) * d(j)", "a(i) = sum(j, sqrt(B(i,j) * c(j)) * d(j))"},
      {"a(i) = -B(i,j)", "a(i) = -sum(j, B(i,j))"},
      {"a(i) = min(B(i,j), c(j))", "a(i) = sum(j, min(B(i,j), c(j)))"},
      {"a(i) = min(B(i,j), c(i))", "a(i) = min(sum(j, B(i,j)), c(i))"},
      {"a(i) = b(i) / (B(i,j) * c(j))", "a(i) = b(i) / sum(j, B(i,j) * c(j))"},
      {"s = b(i) * c(i)", "s = sum(i, b(i) * c(i))"},
      {"s = b(i) * c(j)", "s = sum(i, b(i)) * sum(j, c(j))"},
      {"s = B(i,i)", "s = sum(i, B(i,i))"},
      {"s = B(i,j)", "s = sum(i, sum(j, B(i,j)))"},
      {"s = B(i,j) * c(j) * d(i)", "s = sum(i, sum(j, B(i,j) * c(j)) * d(i))"},
      {"s = B(i,j) * d(i) * c(j)", "s = sum(j, sum(i, B(i,j) * d(i)) * c(j))"},
      {"A(i,j) = B(i,k) * C(k,j)", "A(i,j) = sum(k, B(i,k) * C(k,j))"},
      {"A(i,l) = B(i,j,k) * C(j,l) * D(k,l)", "A(i,l) = sum(k, sum(j, B(i,j,k) * C(j,l)) * D(k,l))"},
      {"a(i) = B(i,j) * (c(j) + D(j,k))", "a(i) = sum(j, B(i,j) * (c(j) + sum(k, D(j,k))))"},
      {"A(i,j) = b(i)", "A(i,j) = b(i)"},
      {"a(i) = sum(j, b(i) + c(j))", "a(i) = sum(j, b(i) + c(j))"},
      {"a(i) = sum(j, B(i,j)) * sum(j, C(i,j))", "a(i) = sum(j, B(i,j)) * sum(j, C(i,j))"},
      {"a(i) = sum(j, B(i,j) * D(j,k)) * e(k)", "a(i) = sum(k, sum(j, B(i,j) * D(j,k)) * e(k))"},
      {"a(i) = 2 * B(i,j) + 1", "a(i) = 2 * sum(j, B(i,j)) + 1"},
  };
  for (const Row& row : rows) {
    TextStatement statement(row.written);
    EXPECT_EQ(print(with_reductions(statement.assignment)), row.meant) << row.written;
    EXPECT_EQ(print(statement.assignment), row.written);
  }
}

TEST(Sums, WrittenOutStayAsTheyAre) {
  for (const char* text : {"a(i) = B(i,j) * c(j)", "s = B(i,j) * c(j) * d(i)", "a(i) = b(i) + B(i,j) * c(j)"}) {
    TextStatement statement(text);
    Assignment once = with_reductions(statement.assignment);
    EXPECT_TRUE(structurally_equal(with_reductions(once), once)) << text;
  }
}

TEST(Statements, ListVariablesAndTensorsByFirstUse) {
  TextStatement statement("A(i,l) = B(k,j) * C(j,l) * B(i,k)");
  auto names = [](const auto& list) {
    std::string out;
    for (const auto& item : list)
      if constexpr (requires { item.symbol(); }) out += item.symbol().name();
      else out += item.name();
    return out;
  };
  EXPECT_EQ(names(variables(statement.assignment)), "ilkj");
  EXPECT_EQ(names(variables(statement.assignment.rhs)), "kjli");
  EXPECT_EQ(names(tensors(statement.assignment)), "ABC");
}

TEST(Types, OfExpressionsAreThoseOfCpp) {
  ParseScope scope;
  auto tensor = [&](const char* name, ScalarType type) {
    scope.tensors.emplace(name, TensorVar({Symbol(name), type, {}, Format()}));
  };
  tensor("b", ScalarType::Bool), tensor("i", ScalarType::Int32), tensor("l", ScalarType::Int64);
  tensor("f", ScalarType::Float32), tensor("d", ScalarType::Float64), tensor("z", ScalarType::Complex64);
  const std::pair<const char*, ScalarType> rows[] = {
      {"b", ScalarType::Bool},          {"-b", ScalarType::Int32},          {"b + b", ScalarType::Int32},
      {"i * l", ScalarType::Int64},     {"l / f", ScalarType::Float32},     {"f - d", ScalarType::Float64},
      {"z * i", ScalarType::Complex64}, {"z * d", ScalarType::Complex128},  {"sqrt(i)", ScalarType::Float64},
      {"sqrt(f)", ScalarType::Float32}, {"exp(z)", ScalarType::Complex64},  {"abs(z)", ScalarType::Float32},
      {"abs(i)", ScalarType::Int32},    {"pow(f, 2)", ScalarType::Float32}, {"min(i, l)", ScalarType::Int64},
      {"max(b, b)", ScalarType::Int32}, {"2.5 * f", ScalarType::Float64},   {"2.5f * f", ScalarType::Float32},
  };
  for (const auto& [text, type] : rows) {
    Lexer in(text, "expression");
    EXPECT_EQ(name_of(type_of(parse_expression(in, scope))), name_of(type)) << text;
  }
}

TEST(Checks, RefuseSumsThatOnlyCppCanWrite) {
  TextStatement statement("a(i) = b(i)");
  IndexVar unused("k");
  Assignment odd = statement.assignment;
  odd.rhs = Reduction{AssignOp::Add, unused, odd.rhs};
  Result<> result = check(odd);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.refusal().message, "k does not stand in the expression that is summed over it");
}

}  // namespace
}  // namespace spdistal::notation
