// Statements in sequence: when they are computed, what they see, and what becomes of those that cannot be.
#include <gtest/gtest.h>

#include "api/session.hpp"
#include "api/state.hpp"
#include "spdistal/spdistal.hpp"
#include "support/refusal.hpp"

namespace spdistal {
namespace {

using test::refusal;

const Format dense1({Dense});

struct InSequence : ::testing::Test {
  Tensor<double> a{"a"}, b{"b"}, x{"x"}, y{"y"};
  Tensor<double> u{"u", {3}, dense1}, v{"v", {3}, dense1}, w{"w", {3}, dense1};
  IndexVar i{"i"};

  InSequence() {
    a.fill(1), b.fill(10), x.fill(0), y.fill(0);
    u.fill(1), v.fill(10);  // w has no data
  }
};

TEST_F(InSequence, WhatWasReadIsReadBeforeItIsAssignedAnew) {
  b() = a();
  x() += b();
  b.at({});
  b() = a() * 2.0;
  x() += b();
  b.at({});
  EXPECT_EQ(double(x), 3);
}

TEST_F(InSequence, ARecurrenceOfThreeStatementsIsWhatItSays) {
  Tensor<double> f("f"), g("g"), t("t");
  f.fill(0), g.fill(1);
  for (int k = 0; k < 7; k++) {
    t() = f() + g();
    f() = g();
    g() = t();
  }
  EXPECT_EQ(double(f), 13);
  EXPECT_EQ(double(g), 21);
}

TEST_F(InSequence, DataThatComesLaterIsNotSeen) {
  x() = a();
  y() = a();
  a.fill(7);
  EXPECT_EQ(double(x), 1);
  a.insert(std::initializer_list<int64_t>{}, 8);
  a.pack();
  EXPECT_EQ(double(y), 1);
  x() = a();
  a = Tensor<double>("another");
  EXPECT_EQ(double(x), 8) << "a is the name of another tensor now";
}

TEST_F(InSequence, AFunctionThatFillsATensorMayLookAtIt) {
  u(i) = v(i);
  u.fill([&](std::span<const int64_t> at) { return u.at({at[0]}) + 1; });
  EXPECT_EQ(u.at({2}), 11);
}

TEST_F(InSequence, WhatIsOverwrittenBeforeAnybodyLooksIsNotComputed) {
  w(i) = v(i);
  EXPECT_EQ(w.at({0}), 10);
  int64_t kernels = Session::instance().jit.loads();
  w(i) = sqrt(v(i) * 31 + 17);
  w(i) += 5 * v(i);
  w(i) = v(i);
  EXPECT_EQ(w.at({0}), 10);
  EXPECT_EQ(Session::instance().jit.loads(), kernels) << "no kernel but the first was asked for";
}

TEST_F(InSequence, WhatOnlyAnOverwrittenStatementReadDoesNotComeBack) {
  x() = 1.0;
  y() = 2.0 * x();
  x() = u(i);
  u(i) = u(i) * v(i);
  y() = u(i);  // nobody reads the first y any more, nor the first x
  EXPECT_EQ(double(y), 30);
  EXPECT_EQ(double(x), 3);
}

// ---- data that comes late ----

TEST_F(InSequence, AStatementWithoutDataTakesItsTurnWhenThatHasCome) {
  u(i) = v(i) * w(i);
  EXPECT_EQ(refusal([&] { u.nnz(); }), "error: w holds no data\nhint: insert and pack, read, or fill it");
  x() = u(i);
  EXPECT_EQ(refusal([&] { x.nnz(); }), "error: w holds no data\nhint: insert and pack, read, or fill it");
  v.fill(2);
  w.fill(3);
  v.fill(1000);
  w.fill(1000);
  EXPECT_EQ(double(x), 18) << "from v and w as they were when w got data";
  EXPECT_EQ(u.at({0}), 6);
}

TEST_F(InSequence, AStatementGivesDataAsWellAsAFill) {
  u(i) = v(i) * w(i);
  w(i) = v(i);
  EXPECT_EQ(u.at({1}), 100);
}

TEST_F(InSequence, StatementsKeepTheirOrderWhicheverDataComesFirst) {
  Tensor<double> first("first"), second("second");
  x() = first();
  y() = x();
  x() = second();
  EXPECT_EQ(refusal([&] { x.nnz(); }), "error: first holds no data\nhint: insert and pack, read, or fill it");
  second.fill(2);
  first.fill(1);
  EXPECT_EQ(double(y), 1);
  EXPECT_EQ(double(x), 2);
}

TEST_F(InSequence, AStatementWithoutDataIsNothingToOthers) {
  u(i) = w(i);
  x() = v(i);
  EXPECT_EQ(double(x), 30);
  u(i) = v(i);
  EXPECT_EQ(u.at({0}), 10) << "what it writes is written by another now";
  w(i) += v(i);
  EXPECT_EQ(w.at({0}), 10) << "a tensor without data starts with zeros where it is added to";
}

TEST_F(InSequence, DataTakesThePlaceOfAStatementThatStillLacksSome) {
  u(i) = w(i);
  x() = u(i);
  u.fill(5);
  EXPECT_EQ(double(x), 15);
  w.fill(1);
  EXPECT_EQ(u.at({0}), 5);
  u.compute();
  EXPECT_EQ(u.at({0}), 1);
}

TEST_F(InSequence, VeryManyStatementsWithoutDataAreRefused) {
  Tensor<double> never("never");
  auto say = [&] {
    for (int k = 0; k < 2000; k++) x() += never();
  };
  EXPECT_EQ(refusal(say), "error: never holds no data\nhint: insert and pack, read, or fill it");
  never.fill(1);
  EXPECT_EQ(double(x), 1000) << "those that were said before it was refused";
}

// ---- compute() ----

TEST_F(InSequence, ComputeIsTheFirstRunOfAStatementThatWaitsAndAnotherOfOneThatRan) {
  x() += a();
  x.compute();
  EXPECT_EQ(double(x), 1);
  x.compute();
  EXPECT_EQ(double(x), 2);
  x() += a();
  EXPECT_EQ(double(x), 3);
  x.compute();
  EXPECT_EQ(double(x), 4) << "looking was its first run";
  x() += a();
  a.fill(100);
  x.compute();
  EXPECT_EQ(double(x), 105) << "it ran before a was changed";
}

TEST_F(InSequence, StatementsSaidOnceAreComputedAgainAndAgain) {
  a() = b() + 1.0;
  b() = a() * 2.0;
  for (int k = 0; k < 3; k++) a.compute(), b.compute();
  double expected = 10;
  for (int k = 0; k < 3; k++) expected = 2 * (expected + 1);
  EXPECT_EQ(double(b), expected);
}

TEST_F(InSequence, CompilingChangesNothing) {
  Tensor<double> sum("sum");
  sum() += u(i);
  EXPECT_FALSE(sum.plan().empty());
  EXPECT_FALSE(sum.kernel().empty());
  EXPECT_EQ(double(sum), 3);
}

TEST_F(InSequence, AScheduleIsSaidAfterItsStatement) {
  IndexVar io("io"), ii("ii");
  Statement kept = (u(i) = v(i) + v(i));
  v.fill(1);  // it ran before
  kept.schedule().split(i, io, ii, 2);
  EXPECT_EQ(u.at({0}), 20);
  u.compute();
  EXPECT_EQ(u.at({0}), 2);
  EXPECT_NE(u.statement().find("split(i, io, ii, 2)"), std::string::npos);
}

TEST_F(InSequence, AStatementSaidAgainFindsItsKernel) {
  auto turn = [&] {
    x() = u(i) * v(i);
    u(i) = u(i) + v(i);
    v(i) = v(i) * x();
  };
  for (int k = 0; k < 2; k++) turn(), v.compute();
  int64_t kernels = Session::instance().jit.loads();
  for (int k = 0; k < 3; k++) turn(), v.compute();
  EXPECT_EQ(Session::instance().jit.loads(), kernels);
}

TEST_F(InSequence, StatementsThatNobodyLooksAtAreComputedWhenVeryManyWait) {
  for (int k = 0; k < 5000; k++) x() += a();
  TensorState& state = *find_tensor(x.var());
  EXPECT_GT(state.home->piece(0).values<double>()[0], 3000) << "most of them do not wait";
  EXPECT_EQ(double(x), 5000);
}

// ---- what fails ----

struct Failing : InSequence {
  Param n{"n"};
  Tensor<double> other{"other", {n}, dense1};

  Failing() {
    u(i) = v(i) + other(i);  // of sizes that turn out to be wrong
    n = 5;
    other.fill(1);
  }
  const std::string wrong = "error: i is 3 in u's first dimension and 5 in other's first";
  std::string look(const TensorBase& tensor) {
    std::string out = refusal([&] { tensor.nnz(); });
    return out.substr(0, out.find('\n'));
  }
};

TEST_F(Failing, AStatementIsToldOfByItsResultUntilThatIsAssigned) {
  EXPECT_EQ(look(u), wrong);
  EXPECT_EQ(look(u), wrong) << "every time";
  u(i) = v(i);
  EXPECT_EQ(u.at({0}), 10);
}

TEST_F(Failing, AStatementDoesNotKeepOthersFromWhatItReads) {
  v(i) = v(i) * 2.0;
  EXPECT_EQ(v.at({0}), 20);
  v.fill(4);
  EXPECT_EQ(v.at({0}), 4);
  EXPECT_EQ(look(u), wrong) << "it is not forgotten";
}

TEST_F(Failing, WhatIsComputedFromAResultThatFailedFailsToo) {
  w(i) = u(i);
  x() = w(i);
  EXPECT_EQ(look(x), wrong);
  EXPECT_EQ(look(w), wrong);
  u.fill(1);
  x() = u(i);
  EXPECT_EQ(double(x), 3);
}

TEST_F(Failing, AStatementCanBeComputedOnceItsCauseIsGone) {
  EXPECT_EQ(look(u), wrong);
  n = 3;
  other.fill(1);
  EXPECT_EQ(look(u), wrong) << "it had its turn";
  u.compute();
  EXPECT_EQ(u.at({0}), 11);
}

// ---- handles ----

TEST_F(InSequence, TensorsThatOnlyWaitForEachOtherGo) {
  std::weak_ptr<TensorState> kept;
  {
    Tensor<double> f("f"), g("g"), t("t");
    f.fill(0), g.fill(1);
    t() = f() + g();
    f() = g();
    g() = t();
    kept = find_tensor(t.var());
  }
  EXPECT_TRUE(kept.expired());
  {
    Tensor<double> f("f"), g("g");
    f.fill(0), g.fill(1);
    f() = g() * 2.0;
    g() = f() * 3.0;
    EXPECT_EQ(double(g), 6);
    kept = find_tensor(g.var());
  }
  EXPECT_TRUE(kept.expired()) << "those that were computed too";
}

TEST_F(InSequence, ATensorGoesThoughItsScheduleNamesIt) {
  std::weak_ptr<TensorState> kept;
  {
    IndexVar io("io"), ii("ii");
    Tensor<double> r("r", {3}, dense1);
    r(i) = u(i);
    r.schedule().divide(i, io, ii, 2).distribute(io).communicate({r, u}, io);
    EXPECT_EQ(r.at({0}), 1);
    kept = find_tensor(r.var());
  }
  EXPECT_TRUE(kept.expired());
}

TEST_F(InSequence, AStatementOutlivesTheHandlesOfWhatItReads) {
  {
    Tensor<double> f("f"), g("g");
    f() = a() * 2.0;
    g() = f() * 3.0;
    f() = g() + f();
    x() = f() + g();
    y() = g();
  }
  EXPECT_EQ(double(x), 14);
  a.fill(50);
  EXPECT_EQ(double(y), 6);
  y.compute();
  EXPECT_EQ(double(y), 6);
}

TEST_F(InSequence, AnExpressionOfATensorThatIsGoneIsRefused) {
  Expression value = 1.0;
  {
    Tensor<double> gone("gone");
    value = gone() * 2.0;
  }
  EXPECT_EQ(refusal([&] { x() = value; }),
            "error: gone is gone: its last handle went before the statement was said\n"
            "hint: an expression does not keep its tensors: keep them until it is assigned");
}

}  // namespace
}  // namespace spdistal
