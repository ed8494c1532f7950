// What loops iterate over.
#include <gtest/gtest.h>

#include "base/text.hpp"
#include "lower/access.hpp"
#include "lower/iterate/pattern.hpp"
#include "lower/result/strategy.hpp"
#include "unit/lower/lowering.hpp"

namespace spdistal::lower {
namespace {

// Inside a loop: its variable is known, and the accesses that it walks have gone down.
Scope inside(Context& c, Scope s, const IndexVar& var, const LoopPattern& pattern) {
  ir::Expr somewhere = ir::var("p", ir::value_of(ScalarType::Int64));
  std::vector<int> walked;
  if (auto* stored = std::get_if<StoredPattern>(&pattern)) walked = {stored->operand};
  if (auto* range = std::get_if<RangePattern>(&pattern)) walked = range->along;
  if (auto* merge = std::get_if<MergePattern>(&pattern)) {
    std::set<int> atoms = merge->where.atoms();
    walked.assign(atoms.begin(), atoms.end());
  }
  for (int k : walked) enter(c, s, k, somewhere, std::nullopt, somewhere);
  s.values.insert_or_assign(var, somewhere);
  return settled(c, s);
}

// The patterns of the loops that are nested directly, from the outside in: "i: range, j: stored: B2".
std::string patterns(std::string_view text, const std::vector<std::string>& formats = {},
                     std::string_view schedule = "") {
  TextLowering lowering(text, formats, schedule);
  Context& c = lowering.c;
  choose_strategy(c);
  Scope s = lowering.s;
  std::vector<std::string> out;
  for (const notation::Forall& loop : notation::outer_loops(lowering.statement.body)) {
    LoopPattern pattern = choose_pattern(c, s, loop, loop.var);
    out.push_back(c.name(loop.var) + ": " + print(c, s, pattern));
    s = inside(c, s, loop.var, pattern);
  }
  return join(out, "; ", [](const std::string& line) { return line; });
}

TEST(LoopPattern, OfDenseTensorsIsARange) { EXPECT_EQ(patterns("a(i) = B(i,j) * c(j)"), "i: range; j: range"); }

TEST(LoopPattern, OfAProductWithOneSparseTensorIsWhatThatStores) {
  EXPECT_EQ(patterns("a(i) = B(i,j) * c(j)", {"B:ds"}), "i: range; j: stored: B2");
  EXPECT_EQ(patterns("a(i) = B(i,j) * c(j)", {"B:ss"}), "i: stored: B1; j: stored: B2");
}

TEST(LoopPattern, OfASumOfSparseTensorsIsAMergeOfAny) {
  EXPECT_EQ(patterns("A(i,j) = B(i,j) + C(i,j)", {"A:ds", "B:ds", "C:ds"}), "i: range; j: merge: B2 or C2");
}

TEST(LoopPattern, OfAProductOfSparseTensorsIsAMergeOfAll) {
  EXPECT_EQ(patterns("A(i,j) = B(i,j) * C(i,j)", {"A:ds", "B:ds", "C:ds"}), "i: range; j: merge: B2 and C2");
  EXPECT_EQ(patterns("A(i,j) = B(i,j) * (C(i,j) + D(i,j))", {"A:ds", "B:ds", "C:ds", "D:ds"}),
            "i: range; j: merge: B2 and C2 or B2 and D2");
}

TEST(LoopPattern, OfASumWithADenseTensorIsARangeThatTheSparseOneIsWalkedAlong) {
  EXPECT_EQ(patterns("A(i,j) = B(i,j) + C(i,j)", {"B:ds"}), "i: range; j: range, along B2");
}

TEST(LoopPattern, LooksUnorderedLevelsUpBesideOthers) {
  EXPECT_EQ(patterns("a(i) = B(i,j) * c(j)", {"B:ds", "c:h"}), "i: range; j: stored: B2");
  EXPECT_EQ(patterns("a(i) = B(i,j) * c(j)", {"c:h"}), "i: range; j: stored: c1");
}

TEST(LoopPattern, OfAResultThatIsAppendedComesToEveryPlaceOfItsDenseLevels) {
  EXPECT_EQ(patterns("A(i,j) = B(i,j) + C(i,j)", {"A:ds", "B:ss", "C:ss"}),
            "i: range of dense levels, along B1 and C1; j: merge: B2 or C2");
}

TEST(LoopPattern, OfWhatIsZeroAllOverIsNothing) { EXPECT_EQ(patterns("a(i) = 0 * b(i)"), "i: nothing"); }

TEST(LoopPattern, OfPositionsIsByRowsWhereRowsGiveElements) {
  EXPECT_EQ(patterns("a(i) = B(i,j) * c(j)", {"B:ds"}, "fuse(i,j,f); pos(f,fp,B(i,j))"),
            "fp: positions: B1..B2, by rows of B1");
  EXPECT_EQ(patterns("a(i) = B(i,j) * c(j)", {"B:uq"}, "fuse(i,j,f); pos(f,fp,B(i,j))"),
            "fp: positions: B1..B2, by runs of B1");
}

TEST(LoopPattern, OfPositionsOfOneLevelIsOneByOne) {
  EXPECT_EQ(patterns("a = b(i)", {"b:s"}, "pos(i,ip,b(i))"), "ip: positions: b1");
}

TEST(LoopPattern, OfTheReaderOfAWorkspaceIsItsList) {
  TextLowering lowering("A(i,j) = B(i,k) * C(k,j)", {"A:ds", "B:ds", "C:ds"});
  Context& c = lowering.c;
  choose_strategy(c);
  notation::Forall rows = lowering.outer();
  const notation::Where& where = *rows.body.as<notation::Where>();
  Scope s = inside(c, lowering.s, rows.var, choose_pattern(c, lowering.s, rows, rows.var));
  ir::Var list = ir::var("list", ir::array_of(ScalarType::Int32));
  each<notation::Assign>(where.producer, [&](const notation::Assign& made) {
    s.temporaries.emplace(made.lhs.tensor, Temporary{list, {}, list, list, list});
  });
  const notation::Forall& reader = *where.consumer.as<notation::Forall>();
  EXPECT_EQ(print(c, s, choose_pattern(c, s, reader, reader.var)), "list: w");
}

TEST(LoopPattern, IsChosenWithoutEmittingAnything) {
  TextLowering lowering("A(i,j) = B(i,j) + C(i,j)", {"A:ds", "B:ss", "C:ss"});
  choose_strategy(lowering.c);
  choose_pattern(lowering.c, lowering.s, lowering.outer(), lowering.outer().var);
  EXPECT_EQ(lowering.c.f.build().params.size(), 0u);
  EXPECT_TRUE(lowering.c.f.build().body == ir::block({}));
}

}  // namespace
}  // namespace spdistal::lower
