#include "base/text.hpp"

#include <gtest/gtest.h>

namespace spdistal {
namespace {

using Words = std::vector<std::string>;

TEST(Text, JoinPutsSeparatorsBetweenItemsOnly) {
  EXPECT_EQ(join(Words{}, ", "), "");
  EXPECT_EQ(join(Words{"a"}, ", "), "a");
  EXPECT_EQ(join(Words{"a", "b", "c"}, ", "), "a, b, c");
  EXPECT_EQ(join(std::vector{1, 2, 3}, "x", [](int n) { return std::to_string(n); }), "1x2x3");
}

TEST(Text, EnumerateSpeaksAsPeopleDo) {
  EXPECT_EQ(enumerate({}), "");
  EXPECT_EQ(enumerate({"a"}), "a");
  EXPECT_EQ(enumerate({"a", "b"}), "a and b");
  EXPECT_EQ(enumerate({"a", "b", "c"}), "a, b and c");
  EXPECT_EQ(enumerate({"a", "b", "c"}, "or"), "a, b or c");
}

TEST(Text, OrdinalsAreWordsUpToTen) {
  EXPECT_EQ(ordinal(0), "first");
  EXPECT_EQ(ordinal(1), "second");
  EXPECT_EQ(ordinal(9), "tenth");
  EXPECT_EQ(ordinal(10), "11th");
}

TEST(Text, IndentLeavesEmptyLinesEmpty) {
  EXPECT_EQ(indent("a\n\n b", 2), "  a\n\n   b");
  EXPECT_EQ(indent("", 2), "");
}

TEST(Text, TrimTakesBlanksFromBothEnds) {
  EXPECT_EQ(trim(" \t a b \n"), "a b");
  EXPECT_EQ(trim(" \t\n"), "");
}

TEST(Text, IdentifiersBeginWithALetterAndMayHoldPrimes) {
  for (const char* good : {"a", "_", "B2", "i'", "x_1", "Ab_9'"}) EXPECT_TRUE(is_identifier(good)) << good;
  for (const char* bad : {"", "2a", "'a", "a b", "a-b", "é", "a."}) EXPECT_FALSE(is_identifier(bad)) << bad;
}

TEST(Text, EditDistanceCountsInsertionsDeletionsReplacementsAndSwaps) {
  EXPECT_EQ(edit_distance("", ""), 0u);
  EXPECT_EQ(edit_distance("abc", ""), 3u);
  EXPECT_EQ(edit_distance("divide", "dvide"), 1u);
  EXPECT_EQ(edit_distance("divide", "divvide"), 1u);
  EXPECT_EQ(edit_distance("divide", "devide"), 1u);
  EXPECT_EQ(edit_distance("divide", "diivde"), 1u);
  EXPECT_EQ(edit_distance("split", "fuse"), 5u);
}

TEST(Text, TheNearestWordIsOneThatCouldHaveBeenMeant) {
  Words commands{"divide", "split", "fuse", "distribute"};
  EXPECT_EQ(nearest("dvide", commands), "divide");
  EXPECT_EQ(nearest("DIVIDE", commands), "divide") << "case counts little";
  EXPECT_EQ(nearest("distrbiute", commands), "distribute");
  EXPECT_EQ(nearest("frobnicate", commands), std::nullopt);
  EXPECT_EQ(nearest("x", {"i", "j"}), std::nullopt) << "another letter is another name";
  EXPECT_EQ(nearest("b", {"a", "B"}), "B");
  EXPECT_EQ(nearest("", commands), std::nullopt);
  EXPECT_EQ(nearest("anything", {}), std::nullopt);
}

TEST(Text, ASuggestionNamesTheNearestOrAll) {
  EXPECT_EQ(suggest("fues", {"divide", "fuse"}, "the commands are"), "did you mean 'fuse'?");
  EXPECT_EQ(suggest("zzz", {"divide", "fuse"}, "the commands are"), "the commands are divide and fuse");
  EXPECT_EQ(suggest("zzz", {}, "the commands are"), "");
}

}  // namespace
}  // namespace spdistal
