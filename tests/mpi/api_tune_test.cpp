// Schedules that are tried on data: results stay right, the fastest is kept, and found again.
#include <gtest/gtest.h>

#include <chrono>

#include "api/session.hpp"
#include "api/state.hpp"
#include "compile/candidates.hpp"
#include "spdistal/spdistal.hpp"

namespace spdistal {
namespace {

constexpr int64_t n = 60;

// A few long rows, many short ones.
Tensor<double> matrix() {
  Tensor<double> out("B", {n, n}, CSR);
  for (int64_t i = 0; i < n; i++)
    for (int64_t j = i % 7; j < (i < 3 ? n : 8); j++) out.insert({i, j}, double(i + 2 * j + 1));
  out.pack();
  return out;
}
double element(int64_t i, int64_t j) { return j >= i % 7 && j < (i < 3 ? n : 8) ? double(i + 2 * j + 1) : 0; }

Tensor<double> vector() {
  Tensor<double> out("c", {n}, {Dense});
  out.fill([](std::span<const int64_t> at) { return double(at[0] % 5 + 1); });
  return out;
}

void expect_product(const Tensor<double>& a) {
  for (int64_t i = 0; i < n; i++) {
    double wanted = 0;
    for (int64_t j = 0; j < n; j++) wanted += element(i, j) * double(j % 5 + 1);
    EXPECT_EQ(a.at({i}), wanted) << i;
  }
}

TEST(Tune, TriesWhatIsChosenAndCutsByRowsAndByNonZeros) {
  Tensor<double> B = matrix(), c = vector(), a("a", {n}, {Dense});
  IndexVar i("i"), j("j");
  a(i) = B(i, j) * c(j);
  Tuned tuned = a.tune({.again = true});
  EXPECT_FALSE(tuned.found);
  std::set<std::string> labels;
  for (const Tuned::Trial& trial : tuned.trials) {
    EXPECT_TRUE(labels.insert(trial.label).second) << trial.label;
    EXPECT_GT(trial.seconds, 0);
    EXPECT_NE(trial.schedule, "") << "what is chosen by itself is a schedule, too: " << trial.label;
  }
  EXPECT_TRUE(labels.contains("as chosen"));
  auto some = [&](const char* begin) {
    return std::any_of(labels.begin(), labels.end(),
                       [&](const std::string& label) { return label.starts_with(begin); });
  };
  EXPECT_TRUE(some("rows"));
  EXPECT_TRUE(some("non-zeros"));
  EXPECT_EQ(some("weights"), Session::instance().transport().size() > 1);
  EXPECT_EQ(a.schedule().str(), tuned.by_itself ? "" : tuned.schedule);
  EXPECT_NE(tuned.schedule, "");
  expect_product(a);
  a.compute();
  expect_product(a);
}

TEST(Tune, EveryScheduleThatIsTriedIsRight) {
  Tensor<double> B = matrix(), c = vector(), a("a", {n}, {Dense});
  IndexVar i("i"), j("j");
  a(i) = B(i, j) * c(j);
  a.compute();
  StatementState& statement = *current_statement(state_of(a));
  int64_t ranks = Session::instance().transport().size();
  Homes homes;
  for (const auto& operand : statement.operands) homes.emplace(operand->var, &home_of(*operand));
  for (int64_t threads : {1, 2})
    for (const Candidate& candidate : candidates(statement, homes, ranks, threads)) {
      SCOPED_TRACE(candidate.label);
      Tensor<double> again("again", {n}, {Dense});
      again(i) = B(i, j) * c(j);
      for (const Command& command : candidate.commands) again.schedule().add(command);
      again.compute();
      expect_product(again);
    }
}

TEST(Tune, WhatIsTriedInsideOfACutIsRight) {
  constexpr int64_t columns = 9;
  Tensor<double> B = matrix(), C("C", {n, columns}, {Dense, Dense});
  C.fill([](std::span<const int64_t> at) { return double(at[0] % 5 + at[1]); });
  IndexVar i("i"), j("j"), k("k");
  auto said = [&](Tensor<double>& result) { result(i, j) = B(i, k) * C(k, j); };
  auto values = [](const Tensor<double>& tensor) {
    std::vector<double> out;
    for (const Element<double>& element : tensor.gather()) out.push_back(element.value);
    return out;
  };
  Tensor<double> A("A", {n, columns}, {Dense, Dense});
  said(A);
  A.compute();
  StatementState& statement = *current_statement(state_of(A));
  Homes homes;
  for (const auto& operand : statement.operands) homes.emplace(operand->var, &home_of(*operand));
  std::vector<Candidate> cuts = candidates(statement, homes, Session::instance().transport().size(), 2);
  std::set<std::string> labels;
  auto expect_right = [&](const Candidate& candidate) {
    SCOPED_TRACE(candidate.label);
    EXPECT_TRUE(labels.insert(candidate.label).second);
    Tensor<double> again("again", {n, columns}, {Dense, Dense});
    said(again);
    for (const Command& command : candidate.commands) again.schedule().add(command);
    again.compute();
    EXPECT_EQ(values(again), values(A));
  };
  for (const Candidate& candidate : cuts) expect_right(candidate);
  const Candidate& cut = cuts.at(1);  // the first is what is chosen where nobody says
  for (const Candidate& candidate : refinements(statement, cut)) {
    EXPECT_TRUE(candidate.label.starts_with(cut.label + ", "));
    expect_right(candidate);
  }
  auto some = [&](const char* what) {
    return std::any_of(labels.begin(), labels.end(),
                       [&](const std::string& label) { return label.find(what) != label.npos; });
  };
  EXPECT_TRUE(some("outside of"));
  EXPECT_TRUE(some("in tiles of 32"));
  EXPECT_TRUE(some("all of a tile of 8"));
  EXPECT_TRUE(some("turns written out"));
  EXPECT_EQ(some("rows, 2 batches of j"), Session::instance().transport().size() > 1);
}

TEST(Tune, IsFoundAgain) {
  Tensor<double> B = matrix(), c = vector(), a("a", {n}, {Dense}), b("a", {n}, {Dense});
  IndexVar i("i"), j("j");
  a(i) = B(i, j) * c(j);
  Tuned first = a.tune({.again = true});
  b(i) = B(i, j) * c(j);
  Tuned second = b.tune();
  EXPECT_TRUE(second.found);
  EXPECT_TRUE(second.trials.empty());
  EXPECT_EQ(second.schedule, first.schedule);
  EXPECT_EQ(second.by_itself, first.by_itself);
  expect_product(b);
}

TEST(Tune, IsKeptForResultsInTheSameFormatAndForTheSameSchedule) {
  Tensor<double> B = matrix(), A("A", {n, n}, CSR), D("A", {n, n}, {Dense, Dense});
  IndexVar i("i"), j("j"), io("io"), ii("ii");
  A(i, j) = 2.0 * B(i, j);
  A.tune({.again = true});
  D(i, j) = 2.0 * B(i, j);
  D.tune({.again = true});
  Tensor<double> other("A", {n, n}, CSR), scheduled("A", {n, n}, CSR);
  other(i, j) = 2.0 * B(i, j);
  EXPECT_TRUE(other.tune().found);
  scheduled(i, j) = 2.0 * B(i, j);
  int64_t never_tuned_before = n + std::chrono::steady_clock::now().time_since_epoch().count() % 1'000'000'000;
  Session::instance().transport().broadcast(std::as_writable_bytes(std::span(&never_tuned_before, 1)), 0);
  scheduled.schedule().split(i, io, ii, never_tuned_before);
  EXPECT_FALSE(scheduled.tune().found) << "what was found without a schedule is not compared with this one";
  Tensor<double> after("A", {n, n}, CSR);
  after(i, j) = 2.0 * B(i, j);
  after.schedule().split(i, io, ii, never_tuned_before);
  EXPECT_TRUE(after.tune().found);
}

TEST(Tune, ResultsThatTheirStatementReadsAreRefused) {
  Tensor<double> B = matrix(), c = vector(), a("a", {n}, {Dense});
  IndexVar i("i"), j("j");
  a.fill(1);
  a(i) += B(i, j) * c(j);
  EXPECT_THROW(a.tune(), UserError);
  expect_product([&] {
    Tensor<double> b("b", {n}, {Dense});
    b(i) = a(i) - 1.0;
    return b;
  }());
}

}  // namespace
}  // namespace spdistal
