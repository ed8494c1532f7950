// The partition functions of every level of the registry: what a fragment defines and uses, and under which name.
#include <gtest/gtest.h>

#include <set>

#include "format/registry.hpp"
#include "level/level.hpp"

namespace spdistal {
namespace {

using plan::Colouring;
using plan::Fragment;
using plan::Level;
using plan::Name;
using plan::Op;

class PartitionFunctions : public ::testing::TestWithParam<LevelFormat> {
 protected:
  const plan::PartitionFunctions& functions() const { return functions_of(GetParam()).partition; }

  // Partitions that a fragment makes, given those that are there; colourings are none.
  std::set<Name> defined_by(const Fragment& fragment, std::set<Name> there) const {
    std::set<Name> made;
    for (const plan::PartitionStatement& s : fragment) {
      for (const Name& in : s.in) EXPECT_TRUE(there.contains(in)) << "used before it is there";
      EXPECT_NE(s.op, Op::Init);
      EXPECT_NE(s.op, Op::Entry);
      EXPECT_TRUE(there.insert(s.out).second) << "made twice";
      made.insert(s.out);
    }
    return made;
  }
  void expect_named(const Fragment& fragment, const std::string& function) const {
    EXPECT_FALSE(fragment.empty());
    for (const plan::PartitionStatement& s : fragment)
      EXPECT_EQ(s.function.str(), std::string(GetParam().name()) + "." + function);
  }
};

// Below another level, and where several variables cut a tensor along one of its dimensions.
const Level places[] = {{1}, {2}, {1, 0}, {3, 2}};

TEST_P(PartitionFunctions, BeginAColouringAndPutOneEntryIntoIt) {
  for (const Level& level : places) {
    struct Group {
      Fragment init, entry;
      Colouring colouring;
    };
    for (const Group& g :
         {Group{functions().init_universe(level), functions().universe_entry(level), Colouring::Universe},
          Group{functions().init_non_zero(level), functions().non_zero_entry(level), Colouring::NonZero}}) {
      ASSERT_EQ(g.init.size(), 1u);
      ASSERT_EQ(g.entry.size(), 1u);
      EXPECT_EQ(g.init[0].op, Op::Init);
      EXPECT_EQ(g.entry[0].op, Op::Entry);
      EXPECT_EQ(g.init[0].out, level.positions());
      EXPECT_EQ(g.entry[0].out, level.positions());
      EXPECT_EQ(g.init[0].colouring, g.colouring);
      EXPECT_EQ(g.entry[0].colouring, g.colouring);
    }
  }
}

TEST_P(PartitionFunctions, MakeThePositionsOfAColouringAndTheirParents) {
  for (const Level& level : places)
    for (const auto& [fragment, colouring] : {std::pair{functions().finalize_universe(level), Colouring::Universe},
                                              std::pair{functions().finalize_universe_set(level), Colouring::Universe},
                                              std::pair{functions().finalize_non_zero(level), Colouring::NonZero}}) {
      EXPECT_EQ(defined_by(fragment, {}), (std::set<Name>{level.positions(), level.parents()}));
      EXPECT_EQ(fragment[0].out, level.positions());
      EXPECT_TRUE(fragment[0].in.empty()) << "the positions come from the colouring";
      EXPECT_EQ(fragment[0].colouring, colouring);
    }
}

TEST_P(PartitionFunctions, FollowTheLevelAbove) {
  for (const Level& level : places)
    EXPECT_TRUE(defined_by(functions().from_parent(level), {level.above()}).contains(level.positions()));
}

TEST_P(PartitionFunctions, FollowTheLevelBelow) {
  for (const Level& level : places)
    EXPECT_EQ(defined_by(functions().from_child(level), {level.asked_below()}),
              (std::set<Name>{level.positions(), level.parents()}));
}

TEST_P(PartitionFunctions, AreMarkedWithTheNameOfTheLevel) {
  Level level{1};
  expect_named(functions().init_universe(level), "init_universe_partition");
  expect_named(functions().universe_entry(level), "universe_partition_entry");
  expect_named(functions().finalize_universe(level), "finalize_universe_partition");
  expect_named(functions().finalize_universe_set(level), "finalize_universe_partition");
  expect_named(functions().init_non_zero(level), "init_non_zero_partition");
  expect_named(functions().non_zero_entry(level), "non_zero_partition_entry");
  expect_named(functions().finalize_non_zero(level), "finalize_non_zero_partition");
  expect_named(functions().from_parent(level), "partition_from_parent");
  expect_named(functions().from_child(level), "partition_from_child");
}

INSTANTIATE_TEST_SUITE_P(OfEveryLevel, PartitionFunctions, ::testing::ValuesIn(all_levels()),
                         [](const auto& level) { return std::string(level.param.name()); });

// ---- the paper's table I, line by line ----

std::string text_of(const Fragment& fragment) {
  std::string out;
  auto name = [](const Name& n) {
    return (n.part == plan::LevelPart::Positions ? "crd" : "pos") + std::to_string(n.level + 1);
  };
  for (const plan::PartitionStatement& s : fragment) {
    out += (out.empty() ? "" : "; ") + name(s.out) + " = " + std::string(plan::name_of(s.op)) + "(";
    for (const Name& in : s.in) out += name(in);
    out += ")";
  }
  return out;
}

TEST(TableOne, CompressedLevelsPartitionTheirCoordinatesAndFindPositionsByPreimage) {
  const plan::PartitionFunctions& f = functions_of(Compressed).partition;
  EXPECT_EQ(text_of(f.finalize_universe({1})), "crd2 = by_value_ranges(); pos2 = preimage(crd2)");
  EXPECT_EQ(text_of(f.finalize_non_zero({1})), "crd2 = by_bounds(); pos2 = preimage(crd2)");
  EXPECT_EQ(text_of(f.from_parent({1})), "pos2 = copy(crd1); crd2 = image(pos2)");
  EXPECT_EQ(text_of(f.from_child({1})), "crd2 = copy(pos3); pos2 = preimage(crd2)");
}

// Positions of a dense level are its own: below each of its parents there is one for every coordinate.
TEST(TableOne, DenseLevelsPartitionTheirBounds) {
  const plan::PartitionFunctions& f = functions_of(Dense).partition;
  EXPECT_EQ(text_of(f.finalize_universe({1})), "crd2 = by_bounds(); pos2 = contract(crd2)");
  EXPECT_EQ(text_of(f.finalize_non_zero({1})), "crd2 = by_bounds(); pos2 = contract(crd2)");
  EXPECT_EQ(text_of(f.from_parent({1})), "crd2 = expand(crd1)");
  EXPECT_EQ(text_of(f.from_child({1})), "crd2 = copy(pos3); pos2 = contract(crd2)");
}

TEST(TableOne, SingletonLevelsCopy) {
  const plan::PartitionFunctions& f = functions_of(Singleton).partition;
  EXPECT_EQ(text_of(f.finalize_universe({1})), "crd2 = by_value_ranges(); pos2 = copy(crd2)");
  EXPECT_EQ(text_of(f.finalize_non_zero({1})), "crd2 = by_bounds(); pos2 = copy(crd2)");
  EXPECT_EQ(text_of(f.from_parent({1})), "crd2 = copy(crd1)");
  EXPECT_EQ(text_of(f.from_child({1})), "crd2 = copy(pos3); pos2 = copy(crd2)");
}

}  // namespace
}  // namespace spdistal
