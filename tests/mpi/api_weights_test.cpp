// Rows cut by what operands store: blocks follow patterns that change, results stay where they are computed, and what is computed
// of them is right.
#include <gtest/gtest.h>

#include <random>

#include "api/session.hpp"
#include "mpi/entries.hpp"
#include "spdistal/spdistal.hpp"

namespace spdistal {
namespace {

// Most of it in a few rows.
Entries skewed(std::mt19937_64& random, int64_t rows, int64_t columns) {
  auto pick = [&](int64_t lo, int64_t hi) { return std::uniform_int_distribution<int64_t>(lo, hi)(random); };
  Entries out;
  int64_t heavy = pick(0, rows - 1);
  for (int64_t n = pick(0, 2) * pick(0, 60); n > 0; n--)
    out[{pick(0, 1) ? std::min(rows - 1, heavy + pick(0, 2)) : pick(0, rows - 1), pick(0, columns - 1)}] =
        double(pick(1, 9));
  return out;
}

void set(Tensor<double>& tensor, const Entries& entries) {
  for (const auto& [at, value] : entries) tensor.insert(at, value);
  tensor.pack();
}

Entries sum(const Entries& a, const Entries& b, double scale) {
  Entries out = a;
  for (const auto& [at, value] : b) out[at] += scale * value;
  return out;
}

TEST(Weights, BlocksFollowPatternsThatChange) {
  for (uint64_t seed = 0; seed < 30; seed++) {
    std::mt19937_64 random(seed);
    SCOPED_TRACE("seed " + std::to_string(seed));
    int64_t rows = 1 + int64_t(random() % 12), columns = 1 + int64_t(random() % 9);
    Machine M{Grid(int64_t(1 + seed % 5))};
    Tensor<double> B("B", {rows, columns}, CSR),
        C("C", {rows, columns}, seed % 2 ? CSR : Format({Compressed, Compressed}));
    Tensor<double> A("A", {rows, columns}, CSR), s("s", {rows}, {Dense}), twice("twice", {rows, columns}, CSR);
    IndexVar i("i"), j("j"), io("io"), ii("ii");
    Entries b, c;
    for (int run = 0; run < 4; run++) {
      SCOPED_TRACE("run " + std::to_string(run));
      if (run != 2) b = skewed(random, rows, columns);  // the third has the patterns of the second
      else
        for (auto& [at, value] : b) value += 1;
      if (run == 0) c = skewed(random, rows, columns);
      set(B, b);
      set(C, c);
      A(i, j) = B(i, j) + 2.0 * C(i, j);
      A.schedule().divide(i, io, ii, M.x, {B, C}).distribute(io);
      Entries wanted = sum(b, c, 2);
      ASSERT_EQ(entries_of(A), wanted);
      // What follows reads pieces that are no equal blocks.
      s(i) = A(i, j);
      Entries rows_of_it;
      for (const auto& [at, value] : wanted) rows_of_it[{at[0]}] += value;
      ASSERT_EQ(entries_of(s), rows_of_it);
      twice(i, j) = A(i, j) + A(i, j);
      ASSERT_EQ(entries_of(twice), sum(wanted, wanted, 1));
    }
  }
}

TEST(Weights, EqualSharesOfAllOperandsAreWhatEachPieceHas) {
  constexpr int64_t rows = 4000, pieces = 8;
  std::mt19937_64 random(1);
  Tensor<double> B("B", {rows, rows}, CSR), C("C", {rows, rows}, CSR), A("A", {rows, rows}, CSR);
  for (int64_t i = 0; i < rows; i++)
    for (int64_t n = 0; n < 2 + 60 / (1 + i / 50); n++) {
      B.insert({i, int64_t(random() % rows)}, 1.0);
      C.insert({(i * i) % rows, int64_t(random() % rows)}, 1.0);
    }
  B.pack();
  C.pack();
  Machine M{Grid(pieces)};
  IndexVar i("i"), j("j"), io("io"), ii("ii");
  A(i, j) = B(i, j) + C(i, j);
  A.schedule().divide(i, io, ii, M.x).distribute(io);
  A.compute();
  EXPECT_GT(A.report().imbalance(), 1.5);
  Tensor<double> D("D", {rows, rows}, CSR);
  D(i, j) = B(i, j) + C(i, j);
  D.schedule().divide(i, io, ii, M.x, {B, C}).distribute(io);
  D.compute();
  EXPECT_LT(D.report().imbalance(), 1.05);
  EXPECT_EQ(entries_of(D), entries_of(A));
  EXPECT_EQ(D.report().total("D(i,j)").packed, 0) << "it stays where it is computed";
}

}  // namespace
}  // namespace spdistal
