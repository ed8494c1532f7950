// The C++ face: statements, names, schedules, and what must not compile.
#include <gtest/gtest.h>

#include "api/state.hpp"
#include "notation/print.hpp"
#include "schedule/print.hpp"
#include "spdistal/spdistal.hpp"
#include "support/refusal.hpp"

namespace spdistal {
namespace {

using test::refusal;

std::string first_lines(const std::string& text, int count) {
  size_t at = 0;
  while (count-- > 0 && at != text.npos) at = text.find('\n', at) + 1;
  return text.substr(0, at);
}
std::string said(const Statement& statement) {
  std::string text = statement.str();
  return text.substr(12, text.find('\n', 12) - 12);  // the line after "statement\n  "
}
const Format dense1({Dense}), dense2({Dense, Dense});

struct Api : ::testing::Test {
  Param n{"n"}, m{"m"};
  Tensor<double> a{"a", {n}, dense1}, b{"b", {n}, dense1}, c{"c", {m}, dense1};
  Tensor<double> B{"B", {n, m}, CSR};
  IndexVar i{"i"}, j{"j"};
};

TEST_F(Api, AnAssignmentRecordsAStatement) {
  a(i) = B(i, j) * c(j);
  EXPECT_EQ(a.statement(),
            "statement\n  a(i) = B(i,j) * c(j)\n\nloops\n  zero a\n  forall i in n\n    forall j in m\n"
            "      a(i) += B(i,j) * c(j)\n");
}

TEST_F(Api, AssigningOneAccessToAnotherRecordsAStatementToo) {
  a(i) = b(i);
  EXPECT_EQ(first_lines(a.statement(), 2), "statement\n  a(i) = b(i)\n");
  EXPECT_EQ(b.statement(), "") << "b was only read";
  Access left = a(i), right = b(j);
  left = right;
  EXPECT_EQ(first_lines(a.statement(), 2), "statement\n  a(i) = b(j)\n");
}

TEST_F(Api, WhatHoldsNothingIsNotReducedWithByOtherThanASum) {
  n = 2, m = 2;
  B.insert({0, 1}, 3.0);
  B.insert({1, 0}, 4.0);
  B.pack();
  a(i).max_with(B(i, j));
  std::string why = refusal([&] { a.at({0}); });
  EXPECT_NE(why.find("a holds nothing, and would count as 0 where max= puts values together with it"), why.npos) << why;
  EXPECT_NE(why.find("a(i) = max(j, B(i,j))"), why.npos) << why;
  b(i) += B(i, j);
  EXPECT_EQ(b.at({1}), 4.0);
  a.fill(5.0);
  a(i).max_with(B(i, j));
  EXPECT_EQ(a.at({1}), 5.0);
}

TEST_F(Api, IncrementsAreStatements) {
  a(i) += b(i);
  EXPECT_EQ(first_lines(a.statement(), 2), "statement\n  a(i) += b(i)\n");
  a(i) += 1;
  EXPECT_EQ(first_lines(a.statement(), 2), "statement\n  a(i) += 1\n");
}

TEST_F(Api, ScalarsAreTensorsWithoutIndices) {
  Tensor<double> s, t("t");
  s() = b(i) * b(i);
  t() = s() + 1;
  EXPECT_EQ(first_lines(s.statement(), 2), "statement\n  T1 = b(i) * b(i)\n");
  EXPECT_EQ(first_lines(t.statement(), 2), "statement\n  t = T1 + 1\n");
  EXPECT_EQ(s.order(), 0u);
}

TEST_F(Api, OneTensorMayHaveSeveralStatements) {
  Statement first = (a(i) = b(i));
  Statement second = (a(i) = 2 * b(i));
  EXPECT_EQ(said(first), "a(i) = b(i)");
  EXPECT_EQ(said(second), "a(i) = 2 * b(i)");
  EXPECT_EQ(a.statement(), second.str()) << "the last one is current";
  IndexVar io("io"), ii("ii");
  first.schedule().split(i, io, ii, 8);
  EXPECT_EQ(second.schedule().commands().size(), 0u) << "each has a schedule of its own";
  Statement copy = first;
  EXPECT_EQ(copy.schedule().commands().size(), 1u) << "copies are the same statement";
}

TEST_F(Api, NumbersStandOnBothSidesOfOperators) {
  EXPECT_EQ(said(a(i) = 2 * b(i)), "a(i) = 2 * b(i)");
  EXPECT_EQ(said(a(i) = b(i) * 2), "a(i) = b(i) * 2");
  EXPECT_EQ(said(a(i) = 1.5 - b(i) / 2.0f), "a(i) = 1.5 - b(i) / 2.0f");
  EXPECT_EQ(said(a(i) = 1L + b(i)), "a(i) = 1L + b(i)");
  EXPECT_EQ(said(a(i) = true), "a(i) = true");
  EXPECT_EQ(said(a(i) = -(-b(i))), "a(i) = --b(i)");
  EXPECT_EQ(said(a(i) = -b(i) * (b(i) - (b(i) + 1))), "a(i) = -b(i) * (b(i) - (b(i) + 1))");
}

TEST_F(Api, FunctionsAreThoseOfTheText) {
  EXPECT_EQ(said(a(i) = sqrt(b(i)) + abs(b(i)) + exp(b(i)) + log(b(i))),
            "a(i) = sqrt(b(i)) + abs(b(i)) + exp(b(i)) + log(b(i))");
  EXPECT_EQ(said(a(i) = pow(b(i), 2) + min(b(i), 1.0) * max(0, b(i))),
            "a(i) = pow(b(i), 2) + min(b(i), 1.0) * max(0, b(i))");
  EXPECT_EQ(said(a(i) = sum(j, B(i, j))), "a(i) = sum(j, B(i,j))");
}

TEST_F(Api, TheSameStatementFromTextAndFromCppPrintsAlike) {
  a(i) = b(i) + 2 * (B(i, j) * c(j));
  Program text({.statement = "a(i) = b(i) + 2 * (B(i,j) * c(j))", .formats = {"B:ds"}});
  n = 10, m = 20;
  Program sized({.statement = "a(i) = b(i) + 2 * (B(i,j) * c(j))", .formats = {"B:ds"}, .sizes = {"i=10", "j=20"}});
  EXPECT_EQ(a.statement(), sized.statement()) << "a parameter that has a value prints as it";
  EXPECT_NE(text.statement(), sized.statement());
}

TEST(ApiNames, UnnamedThingsAreNamedByFirstUse) {
  Param n, m, pieces;
  Machine M{Grid(pieces)};
  DistVar x, y;
  Format BlockedDense({Dense}, Distribution({x}, M, {x}));
  Format ReplDense({Dense}, Distribution({x}, M, {y}));
  Format BlockedCSR({Dense, Compressed}, Distribution({x, y}, M, {x}));
  Tensor<double> a({n}, BlockedDense);
  Tensor<double> B({n, m}, BlockedCSR);
  Tensor<double> c({m}, ReplDense);
  IndexVar i, j, io, ii;
  a(i) = B(i, j) * c(j);
  a.schedule().divide(i, io, ii, M.x).distribute(io).communicate({a, B, c}, io).parallelize(ii, CPUThread);
  EXPECT_EQ(a.statement(),
            "statement\n  T1(i) = T2(i,j) * T3(j)\n\n"
            "loops\n  zero T1\n  forall i\n    forall j\n      T1(i) += T2(i,j) * T3(j)\n\n"
            "schedule\n  divide(i, io, ii, M.x)\n  distribute(io)\n  communicate({T1, T2, T3}, io)\n"
            "  parallelize(ii, CPUThread)\n\n"
            "scheduled loops\n  zero T1\n  forall io in M.x: distribute, communicate {T1, T2, T3}\n"
            "    forall ii in ceil(|i| / M.x): parallelize CPUThread\n"
            "      with i = io * ceil(|i| / M.x) + ii < |i|\n      forall j\n        T1(i) += T2(i,j) * T3(j)\n");
}

TEST(ApiNames, SizesThatDifferAreRefusedWithTheNamesOfTheStatement) {
  IndexVar i, j;
  Tensor<double> a("a", {10}, dense1), B("B", {10, 100}, CSR), c("c", {99}, dense1);
  EXPECT_EQ(
      refusal([&] { a(i) = B(i, j) * c(j); }),
      "error: j is 100 in B's second dimension and 99 in c's first\n  a(i) = B(i,j) * c(j)\n                  ^^^^");
  Tensor<double> x({10}, dense1), M({10, 100}, CSR), y({99}, dense1);
  EXPECT_EQ(refusal([&] { x(i) = M(i, j) * y(j); }),
            "error: j is 100 in T2's second dimension and 99 in T3's first\n  T1(i) = T2(i,j) * T3(j)\n"
            "                    ^^^^^");
}

TEST(ApiNames, SumsThatAreNotClearAreRefusedWithBothReadings) {
  IndexVar i;
  Tensor<double> change("change"), x("x", {3}, dense1), y("y", {3}, dense1);
  EXPECT_EQ(refusal([&] { change() = abs(y(i) - x(i)); }),
            "error: i only stands inside of abs, and it is not said where it is summed\n  change = abs(y(i) - x(i))\n"
            "           ^^^^^^^^^^^^^^^^\n"
            "hint: write change = abs(sum(i, y(i) - x(i))), or change = sum(i, abs(y(i) - x(i)))");
  EXPECT_NO_THROW((change() = sum(i, abs(y(i) - x(i)))));
  EXPECT_NO_THROW((change() = abs(sum(i, y(i) - x(i)))));
  EXPECT_NO_THROW((change() = abs(y(i)) * x(i))) << "the sum is around the product";
  EXPECT_NO_THROW((x(i) = abs(y(i))));
}

TEST(ApiNames, DerivedVariablesAreCalledAfterTheirParents) {
  Tensor<double> A({8, 8}, dense2), B({8, 8}, dense2);
  IndexVar i, j, f, fo, fi, p, q;
  A(i, j) = B(i, j);
  A.schedule().fuse(i, j, f).divide(f, fo, fi, 4).split(fi, p, q, 2);
  EXPECT_EQ(A.schedule().str(), "fuse(i, j, f); divide(f, fo, fi, 4); split(fi, fio, fii, 2)");
}

TEST(ApiNames, AnUnnamedNumberOfPiecesKeepsOneNameEverywhere) {
  Param pieces;
  Tensor<double> a("a", {100}, dense1), b("b", {100}, dense1);
  IndexVar i, io, ii;
  a(i) = b(i);
  a.schedule().divide(i, io, ii, pieces);
  EXPECT_NE(a.statement().find("divide(i, io, ii, n)"), std::string::npos) << a.statement();
  EXPECT_NE(a.statement().find("forall ii in ceil(100 / n)"), std::string::npos) << a.statement();
  pieces = 4;
  EXPECT_NE(a.statement().find("forall ii in ceil(100 / 4)"), std::string::npos) << a.statement();
}

TEST_F(Api, TheFluentScheduleIsTheTextSchedule) {
  Machine M{Grid(4)};
  IndexVar f("f"), fp("fp"), fo("fo"), fi("fi"), p("p"), q("q");
  n = 10, m = 20;
  a(i) = B(i, j) * c(j);
  a.schedule()
      .fuse(i, j, f)
      .pos(f, fp, B(i, j))
      .divide(fp, fo, fi, M.x)
      .distribute(fo)
      .communicate({a, B, c}, fo)
      .split(fi, p, q, 64)
      .parallelize(p, CPUThread, Atomics)
      .unroll(q, 4);
  std::string schedule =
      "fuse(i, j, f); pos(f, fp, B(i,j)); divide(fp, fo, fi, M.x); distribute(fo); communicate({a, B, c}, fo); "
      "split(fi, p, q, 64); parallelize(p, CPUThread, Atomics); unroll(q, 4)";
  EXPECT_EQ(a.schedule().str(), schedule);
  Program text({.statement = "a(i) = B(i,j) * c(j)",
                .formats = {"B:ds"},
                .sizes = {"i=10", "j=20"},
                .machine = "4",
                .schedule = schedule});
  EXPECT_EQ(a.statement(), text.statement());
}

TEST_F(Api, EveryOtherCommandIsAMethodToo) {
  Tensor<double> A("A", {n, n}, dense2), C("C", {n, n}, dense2), D("D", {n, n}, dense2);
  IndexVar k("k"), jb("jb"), jw("jw"), ks("ks");
  A(i, j) = C(i, k) * D(k, j);
  A.schedule().reorder({i, k, j}).bound(j, jb, 32).rotate(k, {i}, ks).precompute(C(i, k) * D(k, j), {jb}, {jw}, "w");
  EXPECT_EQ(A.schedule().str(),
            "reorder(i, k, j); bound(j, jb, 32); rotate(k, {i}, ks); precompute(C(i,k) * D(k,j), {jb}, {jw}, w)");
  a(i) = B(i, j) * c(j);
  a.schedule().substitute({i, j}, "cusparse");
  EXPECT_EQ(a.schedule().str(), "substitute({i, j}, cusparse)");
  a(i) = B(i, j) * c(j);
  a.schedule().distribute({i, j}).communicate(c, j);
  EXPECT_EQ(a.schedule().str(), "distribute(i, j); communicate({c}, j)");
}

TEST_F(Api, ASchedulesCommandsAreDataThatCanBeReplayed) {
  IndexVar io("io"), ii("ii");
  Statement first = (a(i) = b(i)), second = (a(i) = b(i) * 2);
  first.schedule().divide(i, io, ii, 4).distribute(io);
  for (const Command& command : first.schedule().commands()) second.schedule().add(command);
  EXPECT_EQ(first.schedule().str(), second.schedule().str());
}

TEST_F(Api, ARefusedCommandLeavesTheScheduleAsItWas) {
  a(i) = b(i);
  IndexVar io("io"), ii("ii"), other("k");
  a.schedule().split(i, io, ii, 8);
  EXPECT_EQ(refusal([&] { a.schedule().distribute(other); }),
            "error: distribute: there is no loop over k\n  forall io in ceil(n / 8)\n    forall ii in 8\n"
            "      with i = io * 8 + ii < n\n      a(i) = b(i)\nhint: the loops are io and ii");
  EXPECT_EQ(a.schedule().str(), "split(i, io, ii, 8)");
  EXPECT_THROW(a.schedule().unroll(ii, -1), UserError);
  EXPECT_THROW(a.schedule().divide(ii, IndexVar(), IndexVar(), 0), UserError);
  Tensor<double> elsewhere("elsewhere", {n}, dense1);
  a.schedule().distribute(io);
  EXPECT_EQ(refusal([&] { a.schedule().communicate(elsewhere, io); }).substr(0, 52),
            "error: communicate: elsewhere is not in the statemen");
}

TEST_F(Api, NegativeSizesInCommandsAreRefusedWithTheLoop) {
  IndexVar p("p"), q("q");
  a(i) = b(i);
  EXPECT_EQ(refusal([&] { a.schedule().bound(i, p, -3); }).substr(0, 41), "error: bound: i cannot have -3 values\n  f");
  EXPECT_EQ(refusal([&] { a.schedule().split(i, p, q, -3); }).substr(0, 50),
            "error: split: blocks cannot have -3 iterations\n  f");
}

TEST_F(Api, SizesThatDifferAreRefusedByName) {
  Tensor<double> C("C", {10, 100}, CSR), d("d", {99}, dense1), e("e", {10}, dense1);
  EXPECT_EQ(
      refusal([&] { e(i) = C(i, j) * d(j); }),
      "error: j is 100 in C's second dimension and 99 in d's first\n  e(i) = C(i,j) * d(j)\n                  ^^^^");
}

TEST_F(Api, WrongNumbersOfIndicesAreRefused) {
  EXPECT_EQ(refusal([&] { a(i) = B(i) * c(j); }),
            "error: B has 2 dimensions but is indexed by 1 variable\n  a(i) = B(i) * c(j)\n         ^^^^\n"
            "hint: every access has one variable for each dimension");
  EXPECT_THROW((a(i, j) = b(i)), UserError);
}

TEST_F(Api, SumsThatTheTextRefusesAreRefusedHereToo) {
  EXPECT_EQ(refusal([&] { a(i) = sum(j, b(i)); }).substr(0, 67),
            "error: j does not stand in the expression that is summed over it\n  ");
  EXPECT_THROW((a(i) = sum(i, b(i))), UserError);
  EXPECT_THROW((a(i) = sum(j, sum(j, B(i, j)))), UserError);
}

TEST_F(Api, ComplexValuesNeedAComplexResult) {
  Tensor<std::complex<double>> z("z", {n}, dense1);
  EXPECT_THROW((a(i) = z(i)), UserError);
  EXPECT_NO_THROW((a(i) = abs(z(i))));
  EXPECT_NO_THROW((z(i) = a(i) * std::complex<double>(0, 1)));
  EXPECT_THROW((z(i) = min(z(i), a(i))), UserError);
}

TEST_F(Api, AStatementThatIsRefusedLeavesTheOldOneCurrent) {
  a(i) = b(i);
  EXPECT_THROW((a(i) = B(i)), UserError);
  EXPECT_EQ(first_lines(a.statement(), 2), "statement\n  a(i) = b(i)\n");
}

TEST_F(Api, ATensorWithoutAStatementHasNoSchedule) {
  EXPECT_EQ(refusal([&] { b.schedule(); }),
            "error: b has no statement to schedule\nhint: assign to it first: a(i) = B(i, j) * c(j)");
  EXPECT_EQ(refusal([] { Tensor<double>().schedule(); }).substr(0, 25), "error: the tensor has no ");
}

TEST_F(Api, AFormatMustFitTheTensor) {
  EXPECT_EQ(refusal([&] {
              Tensor<double>("B", {n, m}, dense1);
            }),
            "error: B has 2 dimensions, its format 'd' stores 1\nhint: give one level format for each dimension");
}

TEST_F(Api, CopiesOfATensorAreTheSameTensor) {
  Tensor<double> same = a;
  same(i) = b(i);
  EXPECT_EQ(a.statement(), same.statement());
  EXPECT_EQ(a.type(), ScalarType::Float64);
  EXPECT_EQ(B.format(), CSR);
  EXPECT_EQ(B.extents(), (std::vector<Extent>{n, m}));
}

// What must not compile.
template <class T>
concept HasTensor = requires {
  typename Tensor<T>;
};
static_assert(HasTensor<double> && HasTensor<bool> && HasTensor<std::complex<float>> && HasTensor<int64_t>);
static_assert(!HasTensor<char> && !HasTensor<unsigned> && !HasTensor<long double> && !HasTensor<std::string>);
template <class T>
concept Indexes = requires(Tensor<double> t, T index) {
  t(index);
};
template <class L, class R>
concept Multiplies = requires(L l, R r) {
  l* r;
};
static_assert(Indexes<IndexVar> && Indexes<int> && Indexes<int64_t>);
static_assert(!Indexes<double> && !Indexes<bool> && !Indexes<Symbol> && !Indexes<DistVar> && !Indexes<const char*>);
static_assert(Multiplies<Access, double> && Multiplies<int, Access> && Multiplies<Expression, std::complex<float>>);
static_assert(!Multiplies<Access, const char*> && !Multiplies<Access, IndexVar>);
static_assert(!Number<char> && !Number<short> && !Number<unsigned> && !Number<long double>);
static_assert(Number<int> && Number<long> && Number<bool> && Number<float>);
static_assert(!std::is_default_constructible_v<Access> && !std::is_default_constructible_v<Statement>);
static_assert(!std::is_assignable_v<Access, IndexVar>);
static_assert(std::is_same_v<decltype(std::declval<Access>() = std::declval<Access>()), Statement>);
static_assert(!std::is_convertible_v<IndexVar, DistVar> && !std::is_convertible_v<DistVar, IndexVar>);
static_assert(!std::is_convertible_v<const char*, IndexVar>, "a loose string is no variable");

}  // namespace
}  // namespace spdistal
