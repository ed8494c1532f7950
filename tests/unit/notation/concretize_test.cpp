#include "notation/concretize.hpp"

#include <gtest/gtest.h>

#include "base/text.hpp"
#include "notation/check.hpp"
#include "notation/print.hpp"
#include "unit/notation/statements.hpp"

namespace spdistal::notation {
namespace {

std::string order(const char* text, const std::vector<std::string>& formats) {
  TextStatement statement(text, formats);
  return join(loop_order(statement.assignment), "", [](const IndexVar& v) { return v.name(); });
}
std::string loops(const char* text, const std::vector<std::string>& formats = {}) {
  TextStatement statement(text, formats);
  ConcreteStatement concrete = concretize(statement.assignment).value();
  verify(concrete).value();
  return print(concrete);
}

TEST(LoopOrder, FollowsTheLevelsOfSparseTensors) {
  EXPECT_EQ(order("a(i) = B(i,j) * c(j)", {"B:ds"}), "ij");
  EXPECT_EQ(order("a(i) = B(i,j) * c(j)", {"B:ds:1,0"}), "ji");
  EXPECT_EQ(order("A(i,j) = B(i,k) * C(k,j)", {"B:ds"}), "ikj");
  EXPECT_EQ(order("A(i,j) = B(i,k) * C(k,j)", {"C:ds"}), "ikj") << "the rows of A stay outside the sparse levels";
  EXPECT_EQ(order("A(i,j) = B(i,k) * C(k,j)", {"B:ds", "C:ds"}), "ikj");
  EXPECT_EQ(order("A(i,j) = B(i,k) * C(k,j)", {"A:ds:1,0", "B:ds:1,0", "C:ds:1,0"}), "jki");
  EXPECT_EQ(order("A(i,j) = B(i,k) * C(k,j)", {"B:ds:1,0", "C:ds"}), "kij");
  EXPECT_EQ(order("A(i,j,k) = B(i,j,k)", {"B:sss:2,1,0"}), "kji");
  EXPECT_EQ(order("A(i,l) = B(i,j,k) * C(j,l) * D(k,l)", {"B:sss"}), "ijkl");
  EXPECT_EQ(order("A(i,j) = B(i,j) * C(i,k) * D(k,j)", {"A:ds", "B:ds"}), "ijk");
}

TEST(LoopOrder, FollowsDenseTensorsWhereNothingSpeaksAgainstIt) {
  EXPECT_EQ(order("A(i,j) = B(i,j)", {}), "ij");
  EXPECT_EQ(order("A(i,j) = B(i,j)", {"A:dd:1,0"}), "ji");
  EXPECT_EQ(order("A(i,j) = B(j,i)", {}), "ij");
  EXPECT_EQ(order("s = 1 + 1", {}), "");
}

TEST(LoopOrder, OfTensorsThatDisagreeIsThatOfTheFirst) {
  EXPECT_EQ(order("A(i,j) = B(i,j) + C(j,i)", {"A:ds", "B:ds", "C:ds"}), "ij");
  EXPECT_EQ(order("s = B(i,j) * B(j,i)", {"B:ds"}), "ij");
}

TEST(Concretize, WritesLoopsOut) {
  EXPECT_EQ(loops("a(i) = b(i)"), "forall i\n  a(i) = b(i)");
  EXPECT_EQ(loops("a(i) = B(i,j) * c(j)", {"B:ds"}), "zero a\nforall i\n  forall j\n    a(i) += B(i,j) * c(j)");
  EXPECT_EQ(loops("a(i) += B(i,j) * c(j)"), "forall i\n  forall j\n    a(i) += B(i,j) * c(j)");
  EXPECT_EQ(loops("s = 1"), "s = 1");
}

TEST(Concretize, MovesSumsThroughProductsAndSigns) {
  EXPECT_EQ(loops("a(i) = 2 * -(B(i,j) * c(j)) / d(i)"),
            "zero a\nforall i\n  forall j\n    a(i) += 2 * -(B(i,j) * c(j)) / d(i)");
}

TEST(Concretize, ComputesOtherSumsIntoTemporaries) {
  EXPECT_EQ(loops("a(i) = b(i) + B(i,j) * c(j)"),
            "forall i\n  where\n    a(i) = b(i) + t\n  t from\n    forall j\n      t += B(i,j) * c(j)");
}

TEST(Concretize, KeepsTheStartOfIncrements) {
  TextStatement set("a(i) = b(i)"), add("a(i) += b(i)");
  EXPECT_EQ(concretize(set.assignment).value().start, Start::Zero);
  EXPECT_EQ(concretize(add.assignment).value().start, Start::Old);
}

TEST(Concretize, GivesEveryVariableARoot) {
  TextStatement statement("a(i) = sum(j, B(i,j)) + sum(j, C(i,j))");
  ConcreteStatement concrete = concretize(statement.assignment).value();
  for (const IndexVar& var : loop_variables(concrete.body)) EXPECT_NE(concrete.provenance.root(var), nullptr);
  EXPECT_EQ(concrete.provenance.roots.size(), 3u) << "i, j, and the j of the second sum";
}

TensorVar tensor(const char* name, std::vector<Extent> dims) {
  size_t order = dims.size();
  return TensorVar({Symbol(name), ScalarType::Float64, std::move(dims), dense_format(order)});
}

TEST(Extents, ComeFromTheTensors) {
  IndexVar i("i"), j("j");
  Param n("n");
  TensorVar a = tensor("a", {n}), B = tensor("B", {10, n}), c = tensor("c", {n});
  Expr product = Binary{BinaryOp::Mul, Access{B, {i, j}}, Access{c, {j}}};
  auto extents = infer_extents({{a, {i}}, AssignOp::Set, product}).value();
  EXPECT_EQ(extents.at(i), Extent(10)) << "a number tells more than a parameter";
  EXPECT_EQ(extents.at(j), Extent(n));
}

TEST(Extents, ThatDifferAreRefusedByName) {
  IndexVar i("i"), j("j");
  TensorVar a = tensor("a", {10}), B = tensor("B", {10, 100}), c = tensor("c", {99});
  Assignment assignment{{a, {i}}, AssignOp::Set, Binary{BinaryOp::Mul, Access{B, {i, j}}, Access{c, {j}}}};
  auto result = infer_extents(assignment);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.refusal().str(),
            "error: j is 100 in B's second dimension and 99 in c's first\n"
            "  a(i) = B(i,j) * c(j)\n"
            "                  ^^^^");
}

TEST(Extents, ThatDifferInOneTensorAreRefusedToo) {
  IndexVar i("i");
  Assignment assignment{{tensor("s", {}), {}}, AssignOp::Set, Access{tensor("B", {4, 5}), {i, i}}};
  EXPECT_EQ(infer_extents(assignment).refusal().message, "i is 4 in B's first dimension and 5 in its second");
}

TEST(Extents, OfParamsThatAreBoundLaterMayDiffer) {
  IndexVar i("i");
  Param n("n"), m("m");
  Assignment assignment{{tensor("a", {n}), {i}}, AssignOp::Set, Access{tensor("b", {m}), {i}}};
  EXPECT_TRUE(infer_extents(assignment));
  n = 3, m = 4;
  EXPECT_FALSE(infer_extents(assignment));
}

}  // namespace
}  // namespace spdistal::notation
