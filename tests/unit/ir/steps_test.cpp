#include "ir/steps.hpp"

#include <gtest/gtest.h>

#include "ir/build.hpp"

namespace spdistal::ir {
namespace {

class StepsTest : public ::testing::Test {
 protected:
  FunctionBuilder f{"f"};
  Var out = f.vals("out", 0, ScalarType::Float64, Access::Write), shares = f.shares(), n = f.scalar("n", 0);
  void launch() {
    f.parallel("t", shares, [&](Var t) { f.store(out, t, 1.0); });
  }
};

TEST_F(StepsTest, AreLaunchesAndWhatIsBetweenThem) {
  f.constant("m", n + 1);
  f.resize(out, n);
  launch();
  f.loop("p", int64(0), n, [&](Var p) { f.store(out, p, 0.0); });
  launch();
  EXPECT_EQ(print(steps(f.build())), "between\nlaunch t\nbetween\nlaunch t\n");
}

TEST_F(StepsTest, BranchWhereAConditionDecidesOnLaunches) {
  f.when(
      n < 3, [&] { f.store(out, 0, 1.0); }, [&] { f.store(out, 0, 2.0); });
  f.when(
      equal(shares, 1), [&] { f.resize(out, n); },
      [&] {
        f.resize(out, n);
        launch();
      });
  EXPECT_EQ(print(steps(f.build())), "between\nif shares == 1\n  between\nelse\n  between\n  launch t\n");
}

TEST_F(StepsTest, KeepEveryStatementInItsOrder) {
  f.resize(out, n);
  launch();
  f.shrink(out, n);
  std::vector<Stmt> all;
  for (const Step& step : steps(f.build())) all.insert(all.end(), step.stmts.begin(), step.stmts.end());
  EXPECT_TRUE(block(all) == f.build().body);
}

}  // namespace
}  // namespace spdistal::ir
