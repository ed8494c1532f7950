// What is computed on a GPU stays there: statements that follow each other move nothing between it and the host.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <spdistal/spdistal.hpp>

#include "memory/mirror.hpp"

namespace spdistal {
namespace {

// Before anything asks for a GPU.
const bool asked_for = [] {
  const char* wanted = std::getenv("TEST_GPU");
  bool real = wanted && std::string_view(wanted) == "cuda";
  return setenv("SPDISTAL_GPU", real ? "cuda" : "interpreted:4", 1) == 0;
}();

class OnGpu : public ::testing::Test {
 public:
  Machine M{Grid(1, GPU)};
  DistVar u, v, w;
  Format vector{{Dense}, Distribution({u}, M, {u})}, rows{{Dense, Dense}, Distribution({u, v}, M, {u})};
  Format csr{{Dense, Compressed}, Distribution({u, v}, M, {u})};
  IndexVar i, j, k, l;

  Tensor<double> matrix(const std::string& name, int64_t n, int64_t shift) {
    Tensor<double> out(name, {n, n}, csr);
    for (int64_t row = 0; row < n; row++)
      for (int64_t column : {row, (row + 1 + shift) % n}) out.insert({row, column}, column == row ? 4 : 1);
    out.pack();
    return out;
  }

  /// The bytes that move while these are computed again.
  memory::Travelled moved(const std::vector<TensorBase*>& statements) {
    for (int turn = 0; turn < 2; turn++)
      for (TensorBase* each : statements) each->compute();
    memory::Travelled before = memory::travelled();
    for (int turn = 0; turn < 3; turn++)
      for (TensorBase* each : statements) each->compute();
    memory::Travelled after = memory::travelled();
    return {after.to_devices - before.to_devices, after.to_host - before.to_host,
            after.between_devices - before.between_devices};
  }
};

TEST_F(OnGpu, SparseResultsStayThere) {
  Tensor<double> B = matrix("B", 40, 0), C = matrix("C", 40, 1), D = matrix("D", 40, 2);
  Tensor<double> A("A", {40, 40}, csr), P("P", {40, 40}, csr), y("y", {40}, vector), x("x", {40}, vector);
  x.fill(1);
  A(i, j) = B(i, j) + C(i, j) + D(i, j);
  P(i, j) = A(i, k) * B(k, j);
  y(i) = P(i, j) * x(j);
  memory::Travelled bytes = moved({&A, &P, &y});
  EXPECT_EQ(bytes.to_host, 0);
  EXPECT_EQ(bytes.to_devices, 0);
  // A row of A holds 4 + 4 + 4 + 1 + 1 + 1, one of B 5.
  EXPECT_EQ(y.at({7}), 75);
}

/// Conjugate gradients of a matrix with 64 rows; gives what moves in three of its iterations.
struct Iterations {
  memory::Travelled bytes;
  double left;  // of a residual that was 8
};
Iterations solve(OnGpu& test, const Format& number) {
  const int64_t n = 64;
  const IndexVar &i = test.i, &j = test.j;
  Tensor<double> A("A", {n, n}, test.csr);
  for (int64_t row = 0; row < n; row++) {
    A.insert({row, row}, 3);
    if (row > 0) A.insert({row, row - 1}, -1);
    if (row + 1 < n) A.insert({row, row + 1}, -1);
  }
  A.pack();
  const Format& vector = test.vector;
  Tensor<double> x("x", {n}, vector), r("r", {n}, vector), p("p", {n}, vector), q("q", {n}, vector);
  Tensor<double> rr("rr", {}, number), next("next", {}, number), pq("pq", {}, number), alpha("alpha", {}, number),
      beta("beta", {}, number);
  x.fill(0), r.fill(1), p.fill(1);
  rr() = r(i) * r(i);
  rr.compute();
  q(i) = A(i, j) * p(j);
  pq() = p(i) * q(i);
  alpha() = rr() / pq();
  x(i) += alpha() * p(i);
  r(i) = r(i) - alpha() * q(i);
  next() = r(i) * r(i);
  beta() = next() / rr();
  p(i) = r(i) + beta() * p(i);
  rr() = next();
  Iterations out{test.moved({&q, &pq, &alpha, &x, &r, &next, &beta, &p, &rr}), 0};
  out.left = std::sqrt(double(rr));
  return out;
}

TEST_F(OnGpu, ConjugateGradientsStayThere) {
  Iterations done = solve(*this, Format({}, Distribution({}, M, {u})));
  EXPECT_EQ(done.bytes.to_host, 0);
  EXPECT_EQ(done.bytes.to_devices, 0);
  EXPECT_LT(done.left, 0.5);
}

TEST_F(OnGpu, NumbersOfTheHostMoveAloneInConjugateGradients) {
  Iterations done = solve(*this, Format({}));
  EXPECT_LE(done.bytes.to_host, 3 * 8 * int64_t(sizeof(double)));
  EXPECT_LT(done.left, 0.5);
}

TEST_F(OnGpu, ProductsOfACpDecompositionStayThere) {
  const int64_t n = 20, rank = 4;
  Format csf({Dense, Compressed, Compressed}, Distribution({u, v, w}, M, {u}));
  Tensor<double> T("T", {n, n, n}, csf), A("A", {n, rank}, rows), B("B", {n, rank}, rows), C("C", {n, rank}, rows);
  Tensor<double> product("product", {n, rank}, rows), gram("gram", {rank, rank}, rows);
  Tensor<double> inverse("inverse", {rank, rank}, rows);
  for (int64_t row = 0; row < n; row++) {
    T.insert({row, (row * 7) % n, (row * 3) % n}, 1);
    T.insert({row, int64_t(0), int64_t(1)}, 2);
  }
  T.pack();
  A.fill(1), B.fill(1), C.fill(1);
  inverse.fill([](std::span<const int64_t> at) { return at[0] == at[1] ? 0.5 : 0.0; });
  product(i, k) = T(i, j, l) * B(j, k) * C(l, k);
  A(i, l) = product(i, k) * inverse(k, l);
  gram(j, k) = A(i, j) * A(i, k);
  memory::Travelled bytes = moved({&product, &A, &gram});
  EXPECT_EQ(bytes.to_host, 0);
  EXPECT_EQ(bytes.to_devices, 0);
  // Every row of the product is 3, and half of that in A.
  EXPECT_EQ(gram.at({1, 2}), double(n) * 1.5 * 1.5);
}

// ---- over pieces, on several GPUs ----

class OverPieces : public OnGpu {
 public:
  static constexpr int64_t pieces = 4;
  OverPieces() { over(pieces); }
  /// Everything lives on a machine of so many GPUs.
  void over(int64_t count) {
    M = Machine(Grid(count, GPU));
    vector = Format({Dense}, Distribution({u}, M, {u}));
    rows = Format({Dense, Dense}, Distribution({u, v}, M, {u}));
    csr = Format({Dense, Compressed}, Distribution({u, v}, M, {u}));
  }
};

TEST_F(OverPieces, NeighboursGetJustTheirGhosts) {
  const int64_t n = 400, reach = 3;
  Tensor<double> A("A", {n, n}, csr), x("x", {n}, vector), y("y", {n}, vector);
  for (int64_t row = 0; row < n; row++)
    for (int64_t column : {row - reach, row, row + 1})
      if (column >= 0 && column < n) A.insert({row, column}, column == row ? 0.5 : 0.25);
  A.pack();
  x.fill([](std::span<const int64_t> at) { return double(at[0] % 5); });
  y(i) = A(i, j) * x(j);
  x(i) = y(i) + 1;
  memory::Travelled bytes = moved({&y, &x});
  EXPECT_EQ(bytes.to_host, 0);
  EXPECT_EQ(bytes.to_devices, 0);
  EXPECT_EQ(bytes.between_devices, 3 * (pieces - 1) * (reach + 1) * int64_t(sizeof(double)));
}

TEST_F(OverPieces, GhostsThatLieApartAreGathered) {
  const int64_t n = 400;
  Tensor<double> A("A", {n, n}, csr), x("x", {n}, vector), y("y", {n}, vector);
  for (int64_t row = 0; row < n; row++) {
    A.insert({row, row}, 0.5);
    if (row % 50 == 0) A.insert({row, (row + 137) % n}, 0.25);  // two rows of each piece reach into others
  }
  A.pack();
  x.fill([](std::span<const int64_t> at) { return double(at[0] % 5); });
  y(i) = A(i, j) * x(j);
  x(i) = y(i) + 1;
  memory::Travelled bytes = moved({&y, &x});
  EXPECT_EQ(bytes.to_host, 0);
  EXPECT_EQ(bytes.to_devices, 0);
  EXPECT_EQ(bytes.between_devices, 3 * 8 * int64_t(sizeof(double)));
}

TEST_F(OverPieces, ConjugateGradientsMoveTheirGhostsAndNumbers) {
  Iterations done = solve(*this, Format({}, Distribution({}, M, {u})));
  // An iteration: a row to each neighbour; two sums of four numbers, and one each for those who hold them too.
  const int64_t numbers = 2 * (pieces - 1) * 2 + 3 * (pieces - 1);
  EXPECT_EQ(done.bytes.to_host, 0);
  EXPECT_EQ(done.bytes.to_devices, 0);
  EXPECT_GE(done.bytes.between_devices, 3 * (2 * (pieces - 1)) * int64_t(sizeof(double)));
  EXPECT_LE(done.bytes.between_devices, 3 * (2 * (pieces - 1) + numbers) * int64_t(sizeof(double)));
  EXPECT_LT(done.left, 0.5);
}

TEST_F(OverPieces, SumsOfColumnsAreAddedUpOnDevices) {
  const int64_t n = 64, m = 12;
  Tensor<double> A("A", {n, m}, rows), x("x", {n}, vector), y("y", {m}, vector);
  A.fill(1), x.fill(1);
  y(j) = A(i, j) * x(i);
  y.schedule().divide(i, k, l, pieces).reorder({k, l, j}).distribute({k});
  memory::Travelled bytes = moved({&y});
  EXPECT_EQ(bytes.to_host, 0);
  EXPECT_EQ(bytes.to_devices, 0);
  // Each piece has a part of all sums, three quarters of which belong to others.
  EXPECT_EQ(bytes.between_devices, 3 * pieces * (m - m / pieces) * int64_t(sizeof(double)));
  EXPECT_EQ(y.at({5}), double(n));
}

}  // namespace
}  // namespace spdistal
