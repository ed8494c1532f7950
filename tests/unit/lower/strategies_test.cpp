// How results come to be, and how loops are divided.
#include <gtest/gtest.h>

#include "ir/print.hpp"
#include "lower/divide/divide.hpp"
#include "lower/result/appended.hpp"
#include "lower/result/strategy.hpp"
#include "unit/lower/lowering.hpp"

namespace spdistal::lower {
namespace {

std::string strategy(std::string_view text, const std::vector<std::string>& formats, std::string_view schedule = "") {
  TextLowering lowering(text, formats, schedule);
  return std::string(choose_strategy(lowering.c).name);
}

TEST(Strategy, OfADenseResultIsInPlace) { EXPECT_EQ(strategy("a(i) = B(i,j) * c(j)", {"B:ds"}), "in place"); }

TEST(Strategy, OfAResultThatIsThereWhereOneOperandIsSharesItsPattern) {
  EXPECT_EQ(strategy("A(i,j) = B(i,j) * C(i,k) * D(k,j)", {"A:ds", "B:ds"}), "sharing");
  EXPECT_EQ(strategy("A(i,j) = B(i,j) * C(i,j)", {"A:ds", "B:ds"}), "sharing");
}

TEST(Strategy, SharesNoPatternOfOtherLevels) {
  EXPECT_EQ(strategy("A(i,j) = 2 * B(i,j)", {"A:ds", "B:ss"}), "appended");
  EXPECT_EQ(strategy("A(i,j) = B(i,j,k)", {"A:ss", "B:ssd"}), "appended") << "a dense level below may be empty";
}

TEST(Strategy, AppendsWhatComesInOrder) {
  EXPECT_EQ(strategy("A(i,j) = B(i,j) + C(i,j)", {"A:ds", "B:ds", "C:ds"}), "appended");
  EXPECT_EQ(strategy("A(i,j) = B(i,k) * C(k,j)", {"A:ds", "B:ds", "C:ds"}), "appended") << "through a workspace";
}

TEST(Strategy, ScattersWhatComesOutOfOrderBelowDenseLevels) {
  EXPECT_EQ(strategy("A(i,j) = B(j,i)", {"A:ds", "B:ds"}), "scattered");
}

TEST(Strategy, ListsTheRest) {
  EXPECT_EQ(strategy("A(i,j) = B(j,i)", {"A:ss", "B:ds"}), "listed");
  EXPECT_EQ(strategy("A(i,j) = B(i,j) + C(i,j)", {"A:uq", "B:ds", "C:ds"}), "listed");
}

TEST(Strategy, IsBoundedByOperandsThatStoreAnElementWhereverTheResultDoes) {
  auto bounding = [](std::string_view text, const std::vector<std::string>& formats) {
    TextLowering lowering(text, formats);
    choose_strategy(lowering.c);
    return bounding_tensors(lowering.c, made_levels(lowering.c));
  };
  EXPECT_EQ(bounding("A(i,j) = B(i,j) + C(i,j)", {"A:ds", "B:ds", "C:ds"}), (std::vector{1, 2}));
  EXPECT_EQ(bounding("A(i,j) = B(i,j) * C(i,j)", {"A:ds", "B:ds", "C:ds"}), std::vector{1});
  EXPECT_EQ(bounding("A(i,j) = B(i,k) * C(k,j)", {"A:ds", "B:ds", "C:ds"}), std::nullopt);
}

TEST(Strategy, WalksAMergeThatIsEmittedOnceToCountAndToFill) {
  for (const char* result : {"A:ds", "A:ss"}) {
    TextLowering lowering("A(i,j) = B(i,j) + C(i,j)", {result, "B:ds", "C:ds"}, "parallelize(i, CPUThread)");
    Lowered kernel = lower(lowering.statement);
    int merges = 0, walks = 0;
    // Other loops search for where shares begin.
    each<ir::While>(kernel.function.body, [&](const ir::While& loop) {
      bool adds = false;
      each<ir::Load>(loop.body, [&](const ir::Load& load) { adds |= load.array.symbol.name() == "B"; });
      merges += adds;
    });
    each<ir::Perform>(kernel.function.body, [&](const ir::Perform&) { walks++; });
    EXPECT_EQ(merges, 1) << ir::print(kernel.function);
    EXPECT_GE(walks, 2) << ir::print(kernel.function);
  }
}

// ---- divide ----

Division division(TextLowering& lowering, const Scope& s) {
  return division_of(lowering.c, s, loop_of(lowering.c, s, lowering.outer()));
}

TEST(Division, IsByThreadsWhereTheLoopIsParallelAndThreadsAreFree) {
  TextLowering plain("a(i) = B(i,j) * c(j)", {"B:ds"});
  TextLowering parallel("a(i) = B(i,j) * c(j)", {"B:ds"}, "parallelize(i, CPUThread)");
  EXPECT_EQ(division(plain, plain.s), Division::None);
  EXPECT_EQ(division(parallel, parallel.s), Division::Threads);
  Scope inside = parallel.s;
  inside.threads = Parallelism::Taken;
  EXPECT_EQ(division(parallel, inside), Division::None);
}

TEST(Division, IsTheShareAtHandWhereAResultIsAssembled) {
  TextLowering lowering("A(i,j) = B(i,j) + C(i,j)", {"A:ds", "B:ds", "C:ds"});
  Scope s = lowering.s;
  s.share = WalkedShare{ir::int64(0), ir::int64(4)};
  EXPECT_EQ(division(lowering, s), Division::OneShare);
}

}  // namespace
}  // namespace spdistal::lower
