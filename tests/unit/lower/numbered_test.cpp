// Which coordinates a kernel uses for nothing but to find places.
#include <gtest/gtest.h>

#include <fmt/format.h>

#include "base/text.hpp"
#include "lower/numbered.hpp"
#include "unit/lower/lowering.hpp"

namespace spdistal::lower {
namespace {

// "c1, d1 by B2; D1 by E2", of a kernel over pieces.
std::string numbered(std::string_view text, const std::vector<std::string>& formats, std::string_view schedule = "") {
  Options options{.operands = Operands::Pieces};
  TextLowering lowering(text, formats, schedule, options);
  Lowered kernel = lower(lowering.statement, options);
  auto names = [&](const std::vector<LevelOfTensor>& levels) {
    return join(levels, ", ", [&](const LevelOfTensor& level) {
      return fmt::format("{}{}", kernel.operands[size_t(level.tensor) - 1].tensor.symbol().name(), level.level + 1);
    });
  };
  return join(numbered_levels(kernel), "; ", [&](const NumberedLevels& group) {
    return fmt::format("{} by {}", names(group.located), names(group.stored));
  });
}

TEST(NumberedLevels, AreThoseThatAProductFindsByWhatAnotherStores) {
  EXPECT_EQ(numbered("a(i) = B(i,j) * c(j)", {"B:ds"}), "c1 by B2");
  EXPECT_EQ(numbered("A(i,k) = B(i,j) * C(j,k)", {"B:ds"}, "reorder(i,j,k)"), "C1 by B2");
  EXPECT_EQ(numbered("A(i,j) = B(i,j) * C(i,k) * D(j,k)", {"A:ds", "B:ds"}), "D1 by B2");
  EXPECT_EQ(numbered("A(i,j) = B(i,j) * C(i,k) * D(k,j)", {"A:ds", "B:ds"}), "D2 by B2");
  EXPECT_EQ(numbered("A(i,l) = B(i,j,k) * C(j,l) * D(k,l)", {"B:dss"}, "reorder(i,j,k,l)"), "C1 by B2; D1 by B3");
  EXPECT_EQ(numbered("a(i) = B(i,j) * c(j) + d(i)", {"B:ds"}), "c1 by B2");
}

TEST(NumberedLevels, AreOneGroupWhereTheSameCoordinateLeadsToSeveral) {
  EXPECT_EQ(numbered("a(i) = B(i,j) * c(j) * d(j)", {"B:ds"}), "c1, d1 by B2");
  EXPECT_EQ(numbered("a(i) = B(i,j) * C(j,i) * d(j)", {"B:ds"}), "C1, d1 by B2");
}

TEST(NumberedLevels, OfRowsThatAreStoredToo) {
  EXPECT_EQ(numbered("A(i,j) = B(i,j) * c(i) * d(j)", {"A:ss", "B:ss"}), "c1 by B1; d1 by B2");
}

// Variables that were fused are found from all coordinates, and nobody asks for them.
TEST(NumberedLevels, OfPositionsThatAreDealtOut) {
  EXPECT_EQ(numbered("a(i) = B(i,j) * c(j)", {"B:ds"}, "fuse(i,j,f); pos(f,fp,B(i,j)); divide(fp,fo,fi,2)"),
            "c1 by B2");
  EXPECT_EQ(numbered("A(i,j) = B(i,j,k) * c(k)", {"A:ds", "B:dss"},
                     "fuse(i,j,f); fuse(f,k,g); pos(g,gp,B(i,j,k)); divide(gp,go,gi,2)"),
            "c1 by B3");
  EXPECT_EQ(numbered("A(i,l) = B(i,j,k) * C(j,l) * D(k,l)", {"B:dss"},
                     "fuse(j,k,f); fuse(i,f,g); pos(g,gp,B(i,j,k)); divide(gp,go,gi,2)"),
            "C1 by B2; D1 by B3");
  EXPECT_EQ(numbered("a(i) = B(i,j,k,l) * c(j) * d(k) * e(l)", {"B:dsss"},
                     "fuse(k,l,f); fuse(j,f,g); fuse(i,g,h); pos(h,hp,B(i,j,k,l)); divide(hp,ho,hi,2)"),
            "c1 by B2; d1 by B3; e1 by B4");
}

TEST(NumberedLevels, OfPositionsOfBlocksOfRows) {
  EXPECT_EQ(numbered("a(i) = B(i,j) * c(j)", {"B:ds"},
                     "divide(i,io,ii,2); fuse(ii,j,f); pos(f,fp,B(i,j)); divide(fp,fo,fi,2)"),
            "c1 by B2");
  EXPECT_EQ(numbered("a(i) = B(i,j) * c(j)", {"B:ds"},
                     "divide(i,io,ii,2,{B}); fuse(ii,j,f); pos(f,fp,B(i,j)); divide(fp,fo,fi,2)"),
            "c1 by B2");
}

TEST(NumberedLevels, AreNoneWhereCoordinatesAreCompared) {
  EXPECT_EQ(numbered("a(i) = B(i,j) * D(i,j) * c(j)", {"B:ds", "D:ds"}), "");
  EXPECT_EQ(numbered("a(i) = (B(i,j) + D(i,j)) * c(j)", {"B:ds", "D:ds"}), "");
}

TEST(NumberedLevels, AreNoneWhereCoordinatesLeadToTheResult) {
  EXPECT_EQ(numbered("a(j) = B(i,j) * c(j)", {"B:ds"}), "");
  EXPECT_EQ(numbered("A(i,j) = B(i,j) * c(j)", {"A:ds", "B:ds"}), "c1 by B2") << "the result has its pattern";
  EXPECT_EQ(numbered("A(j,i) = B(i,j) * c(j)", {"A:dd", "B:ds"}), "");
}

TEST(NumberedLevels, AreNoneWhereAllCoordinatesAreWalked) {
  EXPECT_EQ(numbered("a(i) = B(i,j) * c(j)", {}), "");
  EXPECT_EQ(numbered("a(i) = B(i,j) * d(j) + c(j)", {"B:ds"}), "");
}

TEST(NumberedLevels, AreNotTheFirstOfPairsThatRepeat) {
  EXPECT_EQ(numbered("A(i,k) = B(i,j) * C(j,k)", {"B:uq"}, "reorder(i,j,k)"), "C1 by B2");
  EXPECT_EQ(numbered("A(i,k) = B(j,i) * C(j,k)", {"B:uq"}, "reorder(j,i,k)"), "");
}

}  // namespace
}  // namespace spdistal::lower
