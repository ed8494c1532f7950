// Numbers of the host are arguments of statements: one plan and one kernel, whatever they are. In one process, in pieces
// and on ranks.
#include <gtest/gtest.h>

#include <limits>

#include "api/session.hpp"
#include "api/state.hpp"
#include "spdistal/spdistal.hpp"
#include "support/refusal.hpp"

namespace spdistal {
namespace {

using test::refusal;

constexpr int64_t n = 23;

int64_t kernels() { return Session::instance().jit.loads(); }
size_t plans(const TensorBase& tensor) { return find_tensor(tensor.var())->executions.size(); }

// Where a vector lives: cut among the ranks, in three pieces on however many, all of it everywhere.
std::vector<Format> places() {
  DistVar x, y;
  Machine three{Grid(3)};
  return {Format({Dense}), Format({Dense}, Distribution({x}, three, {x})),
          Format({Dense}, Distribution({x}, three, {y}))};
}

template <class T>
T element(int64_t i) {
  return T(i % 3 + 1);
}

template <class T>
struct EveryType : ::testing::Test {};
using Types = ::testing::Types<bool, int32_t, int64_t, float, double, std::complex<float>, std::complex<double>>;
TYPED_TEST_SUITE(EveryType, Types);

TYPED_TEST(EveryType, OnePlanAndOneKernelWhateverTheNumbersAre) {
  using T = TypeParam;
  IndexVar i{"i"};
  for (const Format& format : places()) {
    Tensor<T> x{"x", {n}, format}, p{"p", {n}, format};
    p.fill([](std::span<const int64_t> at) { return element<T>(at[0]); });
    int64_t after_first = 0;
    for (T a : {T(2), T(0), T(1), T(-3), T(7)}) {
      T b = a + T(1);
      x(i) = a * p(i) + b;
      for (int64_t k = 0; k < n; k++) EXPECT_EQ(x.at({k}), T(a * element<T>(k) + b)) << k;
      if (after_first == 0) after_first = kernels();
    }
    EXPECT_EQ(kernels(), after_first);
    EXPECT_EQ(plans(x), 1u);
  }
}

struct Numbers : ::testing::Test {
  IndexVar i{"i"}, j{"j"};
  Tensor<double> x{"x", {n}, Format({Dense})}, p{"p", {n}, Format({Dense})};
  Tensor<double> A{"A", {n, n}, CSR}, B{"B", {n, n}, CSR}, C{"C", {n, n}, CSR};

  Numbers() {
    p.fill([](std::span<const int64_t> at) { return double(at[0]) + 0.5; });
    for (int64_t k = 0; k < n; k++) {
      B.insert({k, k}, double(k + 1));
      C.insert({k, (k + 1) % n}, 1.0), C.insert({k, k}, 2.0);
    }
    B.pack(), C.pack();
  }
};

TEST_F(Numbers, AStatementThatIsKeptKeepsItsNumbers) {
  x(i) = 2.5 * p(i);
  double other = 100;
  Tensor<double> y{"y", {n}, Format({Dense})};
  y(i) = other * p(i);
  y.compute();
  x.compute();
  EXPECT_EQ(x.at({3}), 2.5 * 3.5);
  x.compute();
  EXPECT_EQ(x.at({3}), 2.5 * 3.5);
  EXPECT_EQ(y.at({3}), 100 * 3.5);
}

TEST_F(Numbers, WhatIsAddedUpInALoopIsPlannedOnce) {
  x.fill(0);
  double sum = 0;
  int64_t after_first = 0;
  for (double alpha = 0.125; alpha < 2; alpha *= 1.5) {
    x(i) += alpha * p(i);
    x.compute();
    sum += alpha;
    if (after_first == 0) after_first = kernels();
  }
  EXPECT_EQ(kernels(), after_first);
  EXPECT_EQ(plans(x), 1u);
  for (int64_t k = 0; k < n; k++) EXPECT_DOUBLE_EQ(x.at({k}), sum * (double(k) + 0.5));
}

TEST_F(Numbers, AZeroOfTheHostIsAValueAndNotStructure) {
  int64_t after_first = 0;
  for (double alpha : {3.0, 0.0, -1.0}) {
    A(i, j) = alpha * B(i, j);
    EXPECT_EQ(A.nnz(), n);
    EXPECT_EQ(A.at({4, 4}), alpha * 5);
    if (after_first == 0) after_first = kernels();
  }
  EXPECT_EQ(kernels(), after_first);
  for (double alpha : {0.0, 2.0})
    EXPECT_NE(refusal([&] { A(i, j) = B(i, j) + alpha; }).find("A is sparse"), std::string::npos) << alpha;
}

TEST_F(Numbers, AZeroAloneEmptiesASparseResultAsInTheText) {
  A(i, j) = 2.0 * B(i, j);
  EXPECT_EQ(A.nnz(), n);
  A(i, j) = 0.0;
  EXPECT_EQ(A.nnz(), 0);
  EXPECT_EQ(A.at({4, 4}), 0);
  A(i, j) = B(i, j);
  A(i, j) += 0.0;
  EXPECT_EQ(A.nnz(), n);
  EXPECT_NE(refusal([&] { A(i, j) = 2.0; }).find("A is sparse, but 2.0 is zero nowhere"), std::string::npos);
}

// The first run agrees on all of the statement, later ones on nothing: who looks at the result does.
TEST_F(Numbers, ThatDifferBetweenRanksAreNamedBeforeAnyoneSeesWhatTheyGave) {
  if (ranks() == 1) GTEST_SKIP() << "there are no other ranks";
  for (int run : {1, 2, 3}) {
    double alpha = rank() == 1 && run != 2 ? 3.5 : 2.5;
    x(i) = alpha * p(i);
    std::string said = refusal([&] {
      x.compute();
      x.at({3});
    });
    if (run == 2) EXPECT_EQ(said, "nothing was refused");
    else EXPECT_NE(said.find("rank 1 says 'x(i) = 3.5 * p(i)', rank 0 'x(i) = 2.5 * p(i)'"), said.npos) << run << said;
  }
  x(i) = 1.5 * p(i);
  EXPECT_EQ(x.at({3}), 1.5 * 3.5);
}

TEST_F(Numbers, NumbersThatAreNotFiniteAreValuesToo) {
  for (double alpha : {std::numeric_limits<double>::infinity(), 1.0}) {
    A(i, j) = alpha * B(i, j);
    EXPECT_EQ(A.at({4, 4}), alpha * 5);
    EXPECT_EQ(A.at({4, 5}), 0) << "what is not stored is zero";
  }
}

TEST_F(Numbers, SumsOfSparseTensorsTakeSeveral) {
  // The first run finds what is stored, later ones compute values alone: two kernels, whatever the numbers are.
  int64_t after_second = 0;
  for (double alpha : {0.5, 1.0, 4.0, 7.0}) {
    A(i, j) = alpha * B(i, j) - (alpha + 1) * C(i, j);
    EXPECT_EQ(A.at({4, 4}), alpha * 5 - (alpha + 1) * 2);
    EXPECT_EQ(A.at({4, 5}), -(alpha + 1));
    if (alpha == 1.0) after_second = kernels();
  }
  EXPECT_EQ(kernels(), after_second);
}

TEST_F(Numbers, CommandsNameNumbersByTheirValues) {
  IndexVar copy{"copy"};
  int64_t after_first = 0;
  for (double alpha : {0.5, 3.0}) {
    x(i) = alpha * p(i) + 2.0 * p(i);
    x.schedule().precompute(2.0 * p(i), {i}, {copy}, "w");
    EXPECT_EQ(x.at({4}), alpha * 4.5 + 2 * 4.5);
    if (after_first == 0) after_first = kernels();
  }
  EXPECT_EQ(kernels(), after_first);
  EXPECT_EQ(plans(x), 1u);
}

TEST_F(Numbers, SquaresAreMultiplied) {
  x(i) = pow(p(i), 2);
  EXPECT_EQ(x.at({3}), 3.5 * 3.5);
  EXPECT_EQ(x.kernel().find("number1"), std::string::npos);
  double exponent = 1.5;
  x(i) = pow(p(i), exponent);
  EXPECT_DOUBLE_EQ(x.at({3}), std::pow(3.5, 1.5));
  EXPECT_NE(x.kernel().find("number1"), std::string::npos);
}

TEST_F(Numbers, StatementsShowThemAndKernelsNameThem) {
  Tensor<double> number1{"number1", {n}, Format({Dense})};
  number1.fill(3);
  x(i) = 2.5 * number1(i) - 0.5;
  EXPECT_EQ(x.at({3}), 7);
  EXPECT_NE(x.statement().find("x(i) = 2.5 * number1(i) - 0.5"), std::string::npos) << x.statement();
  EXPECT_EQ(x.kernel().find("2.5"), std::string::npos) << x.kernel();
  EXPECT_NE(x.kernel().find("*(const double*)call->arguments[1]"), std::string::npos) << x.kernel();
}

}  // namespace
}  // namespace spdistal
