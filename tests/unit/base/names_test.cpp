#include "base/names.hpp"

#include <gtest/gtest.h>

namespace spdistal {
namespace {

constexpr std::string_view letters[] = {"i", "j", "k"};

TEST(Names, ASymbolKeepsItsOwnName) {
  Names names;
  Symbol a("a"), b("b");
  EXPECT_EQ(names.of(a, letters), "a");
  EXPECT_EQ(names.of(b, letters), "b");
  EXPECT_EQ(names.of(a, letters), "a") << "asked again, it is the same";
}

TEST(Names, TwoSymbolsNeverPrintAlike) {
  Names names;
  Symbol first("i"), second("i"), third("i");
  EXPECT_EQ(names.of(first, letters), "i");
  EXPECT_EQ(names.of(second, letters), "i2");
  EXPECT_EQ(names.of(third, letters), "i3");
}

TEST(Names, UnnamedSymbolsTakeTheNextFreeLetter) {
  Names names;
  Symbol i("i"), a, b, c, d;
  names.of(i, letters);
  EXPECT_EQ(names.of(a, letters), "j");
  EXPECT_EQ(names.of(b, letters), "k");
  EXPECT_EQ(names.of(c, letters), "k2");
  EXPECT_EQ(names.of(d, letters), "k3");
}

TEST(Names, AnUnnamedSymbolIsCalledAsItWishesWhereThatIsFree) {
  Names names;
  Symbol a, b, c("named");
  EXPECT_EQ(names.of(a, letters, "io"), "io");
  EXPECT_EQ(names.of(b, letters, "io"), "io2");
  EXPECT_EQ(names.of(c, letters, "io"), "named");
}

TEST(Names, NumberedNamesCountFromOneAndPassOverTakenOnes) {
  Names names;
  Symbol taken("T2"), a, b, named("A");
  names.numbered(taken, "T");
  EXPECT_EQ(names.numbered(a, "T"), "T1");
  EXPECT_EQ(names.numbered(b, "T"), "T3");
  EXPECT_EQ(names.numbered(named, "T"), "A");
}

TEST(Names, AReservedNameIsGivenToNobody) {
  Names names;
  names.reserve("M");
  EXPECT_EQ(names.of(Symbol("M"), letters), "M2");
}

TEST(Symbols, AreEqualOnlyToTheirCopies) {
  Symbol a("x"), copy = a, other("x");
  EXPECT_EQ(a, copy);
  EXPECT_NE(a, other);
  EXPECT_LT(a, other) << "in the order in which they were made";
}

}  // namespace
}  // namespace spdistal
