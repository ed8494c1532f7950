#include "spdistal/evaluate.hpp"

#include <gtest/gtest.h>

#include "spdistal/error.hpp"
#include "spdistal/runtime.hpp"

namespace spdistal {
namespace {

using ::testing::Test;

class Evaluate : public Test {
 protected:
  Evaluate() {
    B.insert({0, 1}, 2.0);
    B.insert({2, 3}, 5.0);
    B.pack();
    c.fill([](std::span<const int64_t> at) { return double(at[0] + 1); });
  }
  static std::string refusal(const std::string& statement, const std::vector<std::pair<std::string, TensorBase>>& given,
                             const EvaluateText& how = {}) {
    try {
      evaluate(statement, given, how);
    } catch (const UserError& error) { return error.what(); }
    return "accepted";
  }

  Tensor<double> B{{3, 4}, CSR}, c{{4}, Format({Dense})};
};

TEST_F(Evaluate, ComputesAtOnce) {
  Tensor<double> a = evaluate("a(i) = B(i,j) * c(j)", {{"B", B}, {"c", c}});
  EXPECT_EQ(a.at({0}), 4);
  EXPECT_EQ(a.at({1}), 0);
  EXPECT_EQ(a.at({2}), 20);
}

TEST_F(Evaluate, GivesEachCallAResultOfItsOwn) {
  auto product = [&] { return Tensor<double>(evaluate("a(i) = B(i,j) * c(j)", {{"B", B}, {"c", c}}).result()); };
  Tensor<double> before = product();
  c.fill(1.0);
  Tensor<double> after = product();
  EXPECT_EQ(before.at({2}), 20);
  EXPECT_EQ(after.at({2}), 5);
}

TEST_F(Evaluate, TakesOtherTensorsOfTheSameKindInTheSamePlaces) {
  Tensor<double> d({4}, Format({Dense}));
  d.fill(3.0);
  EXPECT_EQ(Tensor<double>(evaluate("a(i) = B(i,j) * c(j)", {{"B", B}, {"c", c}}).result()).at({0}), 4);
  EXPECT_EQ(Tensor<double>(evaluate("a(i) = B(i,j) * c(j)", {{"B", B}, {"c", d}}).result()).at({0}), 6);
}

TEST_F(Evaluate, TakesTheFastestOfTheSchedulesThatWereTried) {
  const char* said = "a(i) = B(i,j) * c(j)";
  auto product = [&] { return evaluate(said, {{"B", B}, {"c", c}}); };
  product();
  Tuned tuned = tune(said, {{"B", B}, {"c", c}}, {}, {.seconds = 1, .again = true});
  EXPECT_FALSE(tuned.trials.empty());
  Evaluation after = product();
  EXPECT_EQ(Tensor<double>(after.result()).at({2}), 20);
  for (const Tuned::Trial& trial : tuned.trials) {
    SCOPED_TRACE(trial.label);
    Evaluation given = evaluate(said, {{"B", B}, {"c", c}}, {.schedule = trial.schedule});
    EXPECT_EQ(Tensor<double>(given.result()).at({2}), 20);
    if (!tuned.by_itself && trial.schedule == tuned.schedule) { EXPECT_EQ(after.statement(), given.statement()); }
  }
  EXPECT_THROW(tune("c(i) = 2 * c(i)", {{"c", c}}), UserError);
}

TEST_F(Evaluate, TakesATensorTwice) {
  Evaluation product = evaluate("A(i,j) = B(i,k) * C(j,k)", {{"B", B}, {"C", B}});
  EXPECT_EQ(Tensor<double>(product.result()).at({2, 2}), 25);
}

TEST_F(Evaluate, AssignsToATensorThatIsGiven) {
  Tensor<double> x({3}, Format({Dense}));
  x.fill(1.0);
  evaluate("x(i) += B(i,j) * c(j)", {{"x", x}, {"B", B}, {"c", c}});
  EXPECT_EQ(x.at({0}), 5);
  evaluate("x(i) = 2 * x(i)", {{"x", x}});
  EXPECT_EQ(x.at({0}), 10);
}

TEST_F(Evaluate, SeesWhatStatementsBeforeItSay) {
  IndexVar i, j;
  Tensor<double> y({3}, Format({Dense}));
  y(i) = B(i, j) * c(j);
  EXPECT_EQ(Tensor<double>(evaluate("z(i) = y(i) + y(i)", {{"y", y}}).result()).at({2}), 40);
  // And those that wait see what was before it.
  Tensor<double> w({3}, Format({Dense}));
  w(i) = y(i);
  evaluate("y(i) = 0 * y(i)", {{"y", y}});
  EXPECT_EQ(w.at({2}), 20);
  EXPECT_EQ(y.at({2}), 0);
}

TEST_F(Evaluate, StoresSparseWhatIsMostlyNotThere) {
  Tensor<double> dense({4, 2}, Format({Dense, Dense})), v({3}, Format({Compressed}));
  dense.fill(1.0);
  v.insert({1}, 1.0);
  v.pack();
  auto format = [](const Evaluation& e) { return e.result().format().str(); };
  EXPECT_EQ(format(evaluate("A(i,j) = B(i,j) + B(i,j)", {{"B", B}})), "ds");
  EXPECT_EQ(format(evaluate("A(i,j) = B(k,i) * B(k,j)", {{"B", B}})), "ds");
  EXPECT_EQ(format(evaluate("A(j,i) = B(i,j)", {{"B", B}})), "ds");
  EXPECT_EQ(format(evaluate("A(i,j) = B(i,k) * C(k,j)", {{"B", B}, {"C", dense}})), "dd");
  EXPECT_EQ(format(evaluate("A(i,j) = B(i,j) + 1", {{"B", B}})), "dd");
  EXPECT_EQ(format(evaluate("a(i) = B(i,j) * c(j)", {{"B", B}, {"c", c}})), "d");
  EXPECT_EQ(format(evaluate("a(j) = B(i,j)", {{"B", B}})), "d");
  EXPECT_EQ(format(evaluate("a(i) = 2 * v(i)", {{"v", v}})), "s");
  EXPECT_EQ(format(evaluate("A(i,j) = B(i,j)", {{"B", B}}, {.formats = {"A:ss"}})), "ss");
}

TEST_F(Evaluate, GivesTheResultTheTypeOfItsOperands) {
  Tensor<float> f({3}, Format({Dense}));
  f.fill(2.0f);
  EXPECT_EQ(evaluate("a(i) = f(i) * f(i)", {{"f", f}}).result().type(), ScalarType::Float32);
  EXPECT_EQ(evaluate("a(i) = f(i) * B(i,j)", {{"f", f}, {"B", B}}).result().type(), ScalarType::Float64);
  EXPECT_THROW(Tensor<double>(evaluate("a(i) = f(i)", {{"f", f}}).result()), UserError);
}

TEST_F(Evaluate, FollowsASchedule) {
  Evaluation e = evaluate("a(i) = B(i,j) * c(j)", {{"B", B}, {"c", c}},
                          {.machine = "2", .schedule = "divide(i,io,ii,M.x); distribute(io); communicate({a,B,c},io)"});
  EXPECT_EQ(Tensor<double>(e.result()).at({2}), 20);
  EXPECT_NE(e.plan().find("leaf"), std::string::npos) << e.plan();
  EXPECT_NE(e.statement().find("forall io in M.x"), std::string::npos) << e.statement();
}

TEST_F(Evaluate, RefusesWithTheTextUnderlined) {
  EXPECT_EQ(
      refusal("a(i) = B(i,j) * d(j)", {{"B", B}}),
      "error: there is no tensor 'd'\n  a(i) = B(i,j) * d(j)\n                  ^\nhint: give it with the others: "
      "{\"d\", …}");
  EXPECT_EQ(refusal("a(i) = B(i,j) * c(j)", {{"B", B}, {"c", c}, {"d", c}}).substr(0, 48),
            "error: there is no tensor 'd' in the statement\n ");
  EXPECT_NE(refusal("a(i) = B(i,j) * c(i)", {{"B", B}, {"c", c}}).find("i is 3 in"), std::string::npos);
  EXPECT_NE(refusal("a(i) = B(i) * c(i)", {{"B", B}, {"c", c}}).find("its format 'ds' is for 2"), std::string::npos);
  EXPECT_NE(refusal("a(i) = B(i,j)", {{"B", B}}, {.formats = {"B:dd"}}).find("B is in memory"), std::string::npos);
}

}  // namespace
}  // namespace spdistal
