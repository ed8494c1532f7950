// Windows: what they are, how they are written, and how many values their variables have.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <unordered_set>

#include "notation/check.hpp"
#include "notation/concretize.hpp"
#include "notation/parse.hpp"
#include "notation/print.hpp"

namespace spdistal::notation {
namespace {

using ::testing::HasSubstr;

// A statement over tensors of these sizes.
Assignment read(const std::string& text, std::map<std::string, std::vector<int64_t>> sizes) {
  ParseScope scope;
  for (const auto& [name, dims] : sizes)
    scope.tensors.emplace(
        name, TensorVar({Symbol(name), ScalarType::Float64, {dims.begin(), dims.end()}, dense_format(dims.size())}));
  return parse_assignment(text, scope);
}
int64_t size_of(const std::string& var, const Assignment& assignment) {
  std::map<IndexVar, Extent> extents = infer_extents(assignment).value();
  for (const auto& [known, extent] : extents)
    if (known.name() == var) return *extent.value();
  return -1;
}
std::string refused(const Assignment& assignment) {
  Result<std::map<IndexVar, Extent>> extents = infer_extents(assignment);
  return extents ? "accepted" : extents.refusal().str();
}
template <class F>
std::string thrown(F&& f) {
  try {
    f();
  } catch (const UserError& error) { return error.diagnostic().str(); }
  return "nothing thrown";
}

TEST(Windows, AreTheSameWhereTheySayTheSame) {
  IndexVar i("i"), j("j");
  EXPECT_EQ(i + 1, 1 + i);
  EXPECT_EQ(i(2, 10), i(2, 10, 1));
  EXPECT_EQ(2 * (i + 1), 2 * i + 2);
  EXPECT_EQ(IndexVar::at(3), IndexVar::at(3));
  EXPECT_EQ(i + 0, i);
  EXPECT_NE(i + 1, i);
  EXPECT_NE(i + 1, j + 1);
  EXPECT_NE(i(2, 10), i(2, 11));
  EXPECT_NE(i(2, 10), i + 2);
  std::unordered_set<IndexVar> all{i, j, i + 1, i + 1, i(2, 10), 2 * i, IndexVar::at(0), IndexVar::at(0)};
  EXPECT_EQ(all.size(), 6u);
  EXPECT_EQ(std::set<IndexVar>(all.begin(), all.end()).size(), 6u);
}

TEST(Windows, ThatAreNoneAreRefused) {
  IndexVar i("i");
  EXPECT_THAT(thrown([&] { i - 1; }), HasSubstr("i - 1 is before the first coordinate where i is 0"));
  EXPECT_THAT(thrown([&] { i(5, 2); }), HasSubstr("the window i(5,2) ends before it begins"));
  EXPECT_THAT(thrown([&] { i(0, 5, 0); }), HasSubstr("a stride of 0 leads nowhere"));
  EXPECT_THAT(thrown([&] { i(2, 10) + 1; }), HasSubstr("the window i(2,10) cannot be shifted"));
  EXPECT_THAT(thrown([&] { (i + 1)(2, 10); }), HasSubstr("i+1 is a window already"));
  EXPECT_THAT(thrown([&] { IndexVar::at(-1); }), HasSubstr("there is no coordinate -1"));
  EXPECT_THAT(thrown([&] { (INT64_MAX / 2) * (i + 3); }), HasSubstr("beyond all coordinates"));
}

TEST(Windows, ArePrintedAsTheyAreRead) {
  for (const char* text : {"a(i) = b(i+1) - b(i)", "a(i) = B(i,0)", "a(i) = B(i(2,10),j(0,9,2))", "A(i+1,2) = b(2*i+1)",
                           "a(i) = sum(j, B(2*i,j+3))"})
    EXPECT_EQ(print(read(text, {{"a", {9}}, {"A", {9, 9}}, {"b", {9}}, {"B", {9, 9}}})), text);
  EXPECT_EQ(print(read("a(i) = b(1 + i * 2)", {{"a", {4}}, {"b", {9}}})), "a(i) = b(2*i+1)");
  EXPECT_EQ(print(read("a(i) = b( i + 0 )", {{"a", {9}}, {"b", {9}}})), "a(i) = b(i)");
}

TEST(Windows, ThatEndGiveTheirVariableItsSize) {
  EXPECT_EQ(size_of("i", read("a(i) = b(i(2,10))", {{"a", {8}}, {"b", {10}}})), 8);
  EXPECT_EQ(size_of("i", read("a(i) = b(i(0,10,3))", {{"a", {4}}, {"b", {11}}})), 4);
  EXPECT_EQ(size_of("j", read("a(i) = B(i,j(1,4)) * c(j)", {{"a", {5}}, {"B", {5, 9}}, {"c", {3}}})), 3);
  EXPECT_THAT(refused(read("a(i) = b(i(2,10))", {{"a", {9}}, {"b", {10}}})),
              HasSubstr("i is 9 in a's first dimension and 8 in the window i(2,10) of b"));
  EXPECT_THAT(refused(read("a(i) = b(i(2,10))", {{"a", {8}}, {"b", {9}}})),
              HasSubstr("the window i(2,10) lies outside of b, whose first dimension has 9 coordinates"));
  EXPECT_THAT(refused(read("a(i) = B(i,3)", {{"a", {8}}, {"B", {8, 3}}})),
              HasSubstr("coordinate 3 lies outside of B, whose second dimension has 3 coordinates"));
}

TEST(Windows, ThatAreOpenLeaveRoomForAllValues) {
  EXPECT_EQ(size_of("i", read("a(i) = b(i+1) - b(i)", {{"a", {8}}, {"b", {9}}})), 8);
  EXPECT_EQ(size_of("i", read("a(i) = b(i+1) - b(i)", {{"a", {5}}, {"b", {9}}})), 5);
  EXPECT_EQ(size_of("i", read("s = b(i+1) * c(i)", {{"s", {}}, {"b", {9}}, {"c", {9}}})), 8);
  EXPECT_EQ(size_of("i", read("s = b(2*i+1) * c(i)", {{"s", {}}, {"b", {9}}, {"c", {9}}})), 4);
  EXPECT_EQ(size_of("i", read("A(i,i+1) = b(i)", {{"A", {9, 9}}, {"b", {9}}})), 8);
  EXPECT_EQ(size_of("i", read("s = b(i+9)", {{"s", {}}, {"b", {9}}})), 0);
  EXPECT_THAT(refused(read("a(i) = b(i+1) - b(i)", {{"a", {9}}, {"b", {9}}})),
              HasSubstr("i is 9 in a's first dimension, and b(i+1) has room for 8"));
}

TEST(Windows, OfSizesThatAreNotKnownAreNotKnown) {
  Param n;
  TensorVar b({Symbol("b"), ScalarType::Float64, {n}, dense_format(1)});
  TensorVar s({Symbol("s"), ScalarType::Float64, {}, dense_format(0)});
  IndexVar i("i");
  Assignment sum{{s, {}}, AssignOp::Set, Access{b, {i + 1}}};
  EXPECT_FALSE(infer_extents(sum).value().at(i).value());
  n = 4;
  EXPECT_EQ(infer_extents(sum).value().at(i).value(), 3);
}

TEST(Windows, AreVariablesThatAreFoundFromOthers) {
  Assignment assignment = read("a(i) = b(i+1) * B(i,2)", {{"a", {8}}, {"b", {9}}, {"B", {8, 4}}});
  ConcreteStatement statement = concretize(assignment).value();
  EXPECT_TRUE(verify(statement));
  EXPECT_EQ(statement.provenance.relations.size(), 2u);
  EXPECT_EQ(loop_variables(statement.body), variables(assignment.lhs));
}

TEST(Windows, OfEverythingStandWhereADimensionMayHaveMore) {
  Assignment assignment = read("a(i) = b(i+1) - b(i)", {{"a", {5}}, {"b", {9}}});
  std::vector<IndexVar> found = windows(with_open_windows(assignment));
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[1], assignment.lhs.indices[0]);
}

}  // namespace
}  // namespace spdistal::notation
