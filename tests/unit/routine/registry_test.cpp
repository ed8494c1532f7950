// What programs may say of routines of their own.
#include "routine/registry.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace spdistal {
namespace {

std::string refusal(LeafRoutine said) {
  try {
    register_leaf(std::move(said));
    return "none";
  } catch (const UserError& error) { return error.diagnostic().message; }
}

const auto nothing = [](const LeafPiece&) {};

TEST(Registry, KnowsWhatIsBuiltIn) {
  std::vector<std::string> all = routine::names();
  for (const char* name : {"gemm", "cusparse"})
    EXPECT_TRUE(std::find(all.begin(), all.end(), name) != all.end()) << name;
  EXPECT_EQ(routine::routines("cusparse").size(), 3u);
  EXPECT_TRUE(routine::routines("blis").empty());
}

TEST(Registry, TakesSeveralStatementsOfOneNameAndTheLastThatSaysTheSame) {
  int first = 0, second = 0;
  register_leaf({.name = "twice", .statement = "a(i) = b(i)", .run = [&](const LeafPiece&) { first++; }});
  register_leaf({.name = "twice", .statement = "A(i,j) = B(i,j)", .run = nothing});
  register_leaf({.name = "twice", .statement = "a(i) = b(i)", .run = [&](const LeafPiece&) { second++; }});
  ASSERT_EQ(routine::routines("twice").size(), 2u);
  routine::routines("twice")[0]->find({}).run({});
  EXPECT_EQ(first, 0);
  EXPECT_EQ(second, 1);
}

TEST(Registry, RefusesWhatMakesNoSense) {
  EXPECT_EQ(refusal({.name = "r", .statement = "a(i) = b(i)", .run = {}}), "the routine 'r' does nothing");
  EXPECT_EQ(refusal({.name = "a b", .statement = "a(i) = b(i)", .run = nothing}), "'a b' is no name of a routine");
  EXPECT_EQ(refusal({.name = "r", .statement = "a(i) += b(i)", .run = nothing}),
            "the routine 'r' is to compute 'a(i) += b(i)'");
  EXPECT_EQ(refusal({.name = "r", .statement = "a(i) = b(i) * b(i)", .run = nothing}), "the routine 'r' names b twice");
  EXPECT_EQ(refusal({.name = "r", .statement = "a(i) = b(i) + B(i,j) * c(j)", .run = nothing}),
            "the routine 'r' computes 'a(i) = b(i) + B(i,j) * c(j)', which takes a temporary");
  EXPECT_EQ(refusal({.name = "r", .statement = "a(i) = b(i)", .formats = {"c:s"}, .run = nothing}),
            "the routine 'r' says how c is stored, which it does not name");
  EXPECT_EQ(refusal({.name = "r", .statement = "a(i) = b(i)", .formats = {"b"}, .run = nothing}),
            "the routine 'r' says 'b' of a format");
  EXPECT_EQ(refusal({.name = "gemm", .statement = "a(i) = b(i)", .processor = GPU, .run = nothing}),
            "there is a routine 'gemm' for another processor");
  EXPECT_EQ(refusal({.name = "r", .statement = "a(i) = b(i+1)", .run = nothing}), "a routine takes whole tensors");
  EXPECT_TRUE(routine::routines("r").empty());
}

TEST(Registry, PiecesTellWhatTheyHave) {
  LeafPiece piece;
  piece.tensors.push_back({.name = "A"});
  EXPECT_EQ(piece["A"].name, "A");
  EXPECT_THROW(piece["B"], UserError);
  EXPECT_THROW(LeafLevel{}.array("pos"), UserError);
}

}  // namespace
}  // namespace spdistal
