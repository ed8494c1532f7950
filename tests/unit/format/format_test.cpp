#include "spdistal/format.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <set>

#include "format/non_zero.hpp"
#include "format/registry.hpp"
#include "spdistal/abi.h"
#include "spdistal/error.hpp"
#include "support/refusal.hpp"

namespace spdistal {
namespace {

using test::refusal;

TEST(Levels, HaveLettersAndNamesOfTheirOwn) {
  std::set<char> letters;
  std::set<std::string_view> names;
  for (const LevelFormat& level : all_levels()) {
    letters.insert(level.letter());
    names.insert(level.name());
    EXPECT_EQ(level_of_letter(level.letter()), level);
    EXPECT_NE(describe_levels().find(level.name()), std::string::npos);
  }
  EXPECT_EQ(letters.size(), all_levels().size());
  EXPECT_EQ(names.size(), all_levels().size());
  EXPECT_EQ(level_of_letter('x'), std::nullopt);
}

TEST(Levels, HavePropertiesThatAgreeWithEachOther) {
  for (const LevelFormat& level : all_levels()) {
    const LevelProperties& p = level.properties();
    EXPECT_TRUE(!p.full || (p.ordered && p.unique)) << level.name() << ": all coordinates, each once";
    EXPECT_FALSE(p.full && p.branchless) << level.name() << ": one coordinate is not all of them";
    EXPECT_TRUE(!p.branchless || p.unique) << level.name() << ": one coordinate does not repeat";
    EXPECT_TRUE(!p.full || p.placed) << level.name() << ": what is stored has its place";
    EXPECT_TRUE(!p.fills || (p.ordered && p.unique)) << level.name() << ": what lies between has an order";
    EXPECT_LE(level.arrays().size(), size_t(SPD_LEVEL_ARRAYS)) << level.name();
  }
  EXPECT_TRUE(LevelFormat(Dense).properties().full);
  EXPECT_FALSE(LevelFormat(CompressedNonUnique).properties().unique);
  EXPECT_TRUE(LevelFormat(Singleton).properties().branchless);
}

TEST(Formats, HaveNames) {
  EXPECT_EQ(CSR.str(), "ds");
  EXPECT_EQ(CSC.str(), "ds:1,0");
  EXPECT_EQ(COO(1).str(), "s");
  EXPECT_EQ(COO(2).str(), "uq");
  EXPECT_EQ(COO(4).str(), "uqqq");
  EXPECT_EQ(CSF(3).str(), "sss");
  EXPECT_EQ(BCSR(4, 2).str(), "dsdd/4x2");
  EXPECT_EQ(COO(0), Format());
  EXPECT_EQ(Format().order(), 0u);
}

TEST(Formats, OfBlocksSayHowLargeTheyAre) {
  EXPECT_EQ(Format::parse("dsdd/4x2"), BCSR(4, 2));
  EXPECT_EQ(Format::parse("dsdd:1,0,2,3/4x2").mode_order(), (std::vector<int>{1, 0, 2, 3}));
  EXPECT_EQ(Format::parse("dd/8").blocks(), (std::vector<int64_t>{8}));
  EXPECT_NE(BCSR(4, 2), BCSR(2, 4));
  EXPECT_TRUE(CSR.blocks().empty());
  for (const char* text : {"dsdd/", "dsdd/4", "dsdd/4x", "dsdd/4x4x4", "dsdd/4x0", "dsdd/4y4", "ds/4x4", "s/4"})
    EXPECT_THROW(Format::parse(text), UserError) << text;
}

TEST(Formats, StoreDimensionsInAnyOrder) {
  Format f({Dense, Compressed, Compressed}, {2, 0, 1});
  EXPECT_EQ(f.str(), "dss:2,0,1");
  EXPECT_EQ(f.level_of(2), 0u);
  EXPECT_EQ(f.level_of(0), 1u);
  EXPECT_EQ(f.level_of(1), 2u);
  EXPECT_FALSE(f.is_dense());
  EXPECT_TRUE(Format({Dense, Dense}, {1, 0}).is_dense());
  EXPECT_TRUE(Format().is_dense());
}

TEST(Formats, ThatArePrintedParseToTheSame) {
  // All formats of up to three levels in all orders.
  std::vector<std::vector<LevelFormat>> levels{{}};
  size_t begin = 0, count = 0;
  for (int order = 0; order <= 3; order++) {
    size_t end = levels.size();
    for (size_t k = begin; k < end; k++) {
      std::vector<int> mode_order(levels[k].size());
      std::iota(mode_order.begin(), mode_order.end(), 0);
      do {
        try {
          Format format(levels[k], mode_order);
          EXPECT_EQ(Format::parse(format.str()), format) << format.str();
          count++;
        } catch (const UserError&) {}
      } while (std::next_permutation(mode_order.begin(), mode_order.end()));
      for (const LevelFormat& level : all_levels()) {
        levels.push_back(levels[k]);
        levels.back().push_back(level);
      }
    }
    begin = end;
  }
  EXPECT_GT(count, 100u);
}

TEST(Formats, ThatMakeNoSenseAreRefused) {
  EXPECT_EQ(
      refusal([] {
        Format({Dense, Compressed}, std::vector<int>{0});
      }),
      "error: the order 0 is no arrangement of 2 dimensions\nhint: it names each of 0,1 once, the outermost first");
  EXPECT_NE(refusal([] { Format({Dense, Singleton}); }).find("level 2 is Singleton"), std::string::npos);
  EXPECT_NE(refusal([] { Format({Singleton}); }).find("level 1 is Singleton"), std::string::npos);
  EXPECT_NE(refusal([] { Format({Compressed, Singleton}); }).find("level 2 is Singleton"), std::string::npos);
  EXPECT_NO_THROW(Format({Dense, CompressedNonUnique, Singleton, Singleton}));
}

TEST(Formats, CarryADistributionThatFitsTheirStorage) {
  Machine m(Grid(4));
  DistVar x("x"), y("y"), f("f");
  Format by_rows({Dense, Compressed}, Distribution({x, y}, m, {x}));
  ASSERT_TRUE(by_rows.distribution());
  EXPECT_EQ(by_rows.distribution()->dims().size(), 2u);
  Format moved(CSC, Distribution({x, y}, m, {~y}));
  EXPECT_EQ(moved.mode_order(), CSC.mode_order());
  EXPECT_EQ(refusal([&] {
              Format({Dense}, Distribution({x, y}, m, {x}));
            }),
            "error: the distribution names 2 dimensions, the format stores 1\n  T(x,y) -> M(x)\n   ^^^^^\n"
            "hint: write one name for each dimension of the tensor");
  EXPECT_EQ(refusal([&] {
              Format(CSR, Distribution({x, y}, Machine(Grid(2, 2)), {~y, x}));
            }),
            "error: ~y: the stored coordinates of y are counted below those of x, which is placed otherwise\n"
            "  T(x,y) -> M(~y,x)\n              ^^\n"
            "hint: fuse(x,y,f) and ~f split them evenly; M(x,~y) splits those of each block of x");
  EXPECT_NO_THROW(Format(CSC, Distribution({x, y}, fuse({x, y}, f), m, {~f})));
}

TEST(Formats, KnowTheLevelsThatANonZeroPartitionSplits) {
  Machine m(Grid(4));
  DistVar x, y, z, f;
  auto levels = [](const Format& format, const DistVar& var) {
    return levels_split_by(format, *format.distribution(), var);
  };
  EXPECT_EQ(levels(Format(CSR, Distribution({x, y}, m, {~x})), x), 1u);
  EXPECT_EQ(levels(Format(CSR, Distribution({x, y}, fuse({x, y}, f), m, {~f})), f), 2u);
  EXPECT_EQ(levels(Format(CSR, Distribution({x, y}, m, {~y})), y), 2u);
  EXPECT_EQ(levels(Format(COO(3), Distribution({x, y, z}, m, {~x})), x), 3u) << "an entry of COO goes as a whole";
  EXPECT_EQ(levels(Format({Dense, CompressedNonUnique, Singleton}, Distribution({x, y, z}, m, {~x})), x), 1u);
}

// `Format({Dense}, Distribution(…))` is a list of levels, as in the paper's figure, never a copied format.
TEST(Formats, AListOfLevelsWithADistributionIsNotAmbiguous) {
  Machine m(Grid(2));
  DistVar x;
  EXPECT_EQ(Format({Dense}, Distribution({x}, m, {x})).order(), 1u);
}

}  // namespace
}  // namespace spdistal
