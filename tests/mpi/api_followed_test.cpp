// Sparse results that stay where they are computed, whose elements colours have parts of, as operands of what follows.
#include <gtest/gtest.h>

#include <random>

#include "api/session.hpp"
#include "mpi/entries.hpp"
#include "spdistal/spdistal.hpp"

namespace spdistal {
namespace {

struct Case {
  int64_t rows, columns, depth;
  Entries stored;

  explicit Case(std::mt19937_64& random) {
    auto pick = [&](int64_t lo, int64_t hi) { return std::uniform_int_distribution<int64_t>(lo, hi)(random); };
    rows = pick(1, 5), columns = pick(1, 4), depth = pick(1, 12);
    for (int64_t n = pick(0, 60); n > 0; n--)
      stored[{pick(0, rows - 1), pick(0, columns - 1), pick(0, depth - 1)}] = double(pick(1, 9));
  }

  Tensor<double> tensor(const Format& format) const {
    Tensor<double> out("B", {rows, columns, depth}, format);
    for (const auto& [at, value] : stored) out.insert(at, value);
    out.pack();
    return out;
  }
  // Sums over the last coordinate, weighed with scale * (k + 1).
  Entries sums(double scale) const {
    Entries out;
    for (const auto& [at, value] : stored) out[{at[0], at[1]}] += value * scale * double(at[2] + 1);
    return out;
  }
};

Entries by_rows(const Entries& matrix) {
  Entries out;
  for (const auto& [at, value] : matrix) out[{at[0]}] += value * double(at[1] + 2);
  return out;
}

// What else is computed of A, and looked at.
void expect_followers(const Tensor<double>& A, const Case& made, const Entries& wanted, const Machine& M) {
  IndexVar i("i"), j("j"), f("f"), fp("fp"), fo("fo"), fi("fi");
  Tensor<double> x("x", {made.columns}, {Dense}), y("y", {made.rows}, {Dense}), z("z", {made.rows}, {Dense});
  x.fill([](std::span<const int64_t> at) { return double(at[0] + 2); });
  y(i) = A(i, j) * x(j);
  EXPECT_EQ(entries_of(y), by_rows(wanted)) << "by default";
  z(i) = A(i, j) * x(j);
  z.schedule().fuse(i, j, f).pos(f, fp, A(i, j)).divide(fp, fo, fi, M.x).distribute(fo);
  EXPECT_EQ(entries_of(z), by_rows(wanted)) << "by non-zeros";
  DistVar r, c;
  Tensor<double> moved("moved", {made.rows, made.columns},
                       Format({Compressed, Compressed}, Distribution({r, c}, M, {c})));
  moved(i, j) = A(i, j);
  EXPECT_EQ(entries_of(moved), wanted) << "by columns";
  Tensor<double> twice("twice", {made.rows, made.columns}, CSR);
  twice(i, j) = A(i, j) + moved(i, j);
  Entries doubled = wanted;
  for (auto& [at, value] : doubled) value *= 2;
  EXPECT_EQ(entries_of(twice), doubled) << "added";
  double here = 0, all = 0;
  for (const auto& [at, value] : A.local()) here += value;
  for (const auto& [at, value] : wanted) all += value;
  EXPECT_EQ(Session::instance().transport().allreduce(here, runtime::ReduceOp::Sum), all) << "what each rank owns";
  EXPECT_EQ(A.nnz(), int64_t(wanted.size()));
}

TEST(Followed, ResultsThatStayAreOperandsLikeOthers) {
  for (uint64_t seed = 0; seed < 40; seed++) {
    std::mt19937_64 random(seed);
    Case made(random);
    Machine M{Grid(int64_t(2 + seed % 4))};
    bool dense = seed % 2 == 0;
    Tensor<double> B =
        made.tensor(dense ? Format({Dense, Compressed, Compressed}) : Format({Compressed, Compressed, Compressed}));
    Tensor<double> c("c", {made.depth}, {Dense});
    Tensor<double> A("A", {made.rows, made.columns}, dense ? CSR : Format({Compressed, Compressed}));
    IndexVar i("i"), j("j"), k("k"), g("g"), f("f"), fp("fp"), fo("fo"), fi("fi");
    A(i, j) = B(i, j, k) * c(k);
    A.schedule().fuse(i, j, g).fuse(g, k, f).pos(f, fp, B(i, j, k)).divide(fp, fo, fi, M.x).distribute(fo);
    for (double scale : {1.0, 3.0}) {
      SCOPED_TRACE("seed " + std::to_string(seed) + ", scale " + std::to_string(scale));
      c.fill([&](std::span<const int64_t> at) { return scale * double(at[0] + 1); });
      A.compute();
      EXPECT_EQ(entries_of(A), made.sums(scale));
      expect_followers(A, made, made.sums(scale), M);
      if (testing::Test::HasFailure()) return;
    }
  }
}

}  // namespace
}  // namespace spdistal
