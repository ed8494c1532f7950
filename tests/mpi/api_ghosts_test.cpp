// Vectors that several statements read with the ghosts that each of them needs, and that are written in between: on any number
// of ranks, in any order.
#include <gtest/gtest.h>

#include <map>
#include <random>

#include "api/session.hpp"
#include "api/state.hpp"
#include "memory/out_of_memory.hpp"
#include "spdistal/spdistal.hpp"

namespace spdistal {
namespace {

const IndexVar i("i"), j("j"), k("k");

// A matrix with few elements in a row, anywhere.
struct Matrix {
  int64_t n;
  std::map<std::pair<int64_t, int64_t>, double> stored = {};

  Matrix(int64_t size, uint64_t seed, int64_t in_row) : n(size) {
    std::mt19937_64 random{seed};
    auto pick = [&](int64_t hi) { return std::uniform_int_distribution<int64_t>(0, hi - 1)(random); };
    for (int64_t row = 0; row < n; row++)
      for (int64_t e = pick(in_row + 1); e > 0; e--) stored[{row, pick(n)}] = double(pick(3) + 1);
  }
  // All that is at most so far from the diagonal.
  static Matrix band(int64_t n, int64_t width) {
    Matrix out(n, 0, 0);
    for (int64_t row = 0; row < n; row++)
      for (int64_t column = std::max<int64_t>(0, row - width); column <= std::min(n - 1, row + width); column++)
        out.stored[{row, column}] = double((row + column) % 3 + 1);
    return out;
  }
  // The first rows have most of the elements.
  static Matrix skewed(int64_t n) {
    Matrix out(n, 11, 1);
    for (int64_t row = 0; row < n / 8; row++)
      for (int64_t column = row % 2; column < n; column += 1 + n / 100) out.stored[{row, column}] = double(row % 3 + 1);
    return out;
  }

  Tensor<double> tensor(const char* name) const {
    Tensor<double> out(name, {n, n}, CSR);
    for (const auto& [at, value] : stored) out.insert({at.first, at.second}, value);
    out.pack();
    return out;
  }
  // Small whole numbers: exact in any order.
  std::vector<double> operator*(const std::vector<double>& x) const {
    std::vector<double> out(size_t(n), 0.0);
    for (const auto& [at, value] : stored) out[size_t(at.first)] += value * x[size_t(at.second)];
    return out;
  }
};

std::vector<double> small(std::vector<double> x) {
  for (double& v : x) v = std::min(v, 5.0);
  return x;
}

std::vector<double> gathered(const Tensor<double>& x) {
  std::vector<double> out(size_t(x.dims()[0]), 0.0);
  for (const auto& [at, value] : x.gather()) out[size_t(at[0])] = value;
  return out;
}

std::vector<double> start_vector(int64_t n) {
  std::vector<double> out(static_cast<size_t>(n));
  for (int64_t x = 0; x < n; x++) out[size_t(x)] = double(x % 5);
  return out;
}

Tensor<double> vector(const char* name, int64_t n) { return Tensor<double>(name, {n}, {Dense}); }

void fill(Tensor<double>& tensor, const std::vector<double>& values) {
  tensor.fill([&](std::span<const int64_t> at) { return values[size_t(at[0])]; });
}

// Of few elements, so that ranks have none; of many, so that memory has no room behind them by itself.
const std::vector<int64_t> sizes{1, 2, 3, 7, 50, 3000};

void expect_right_of_both(int64_t n, const Matrix& b, const Matrix& e) {
  Tensor<double> B = b.tensor("B"), E = e.tensor("E"), x = vector("x", n), y = vector("y", n), z = vector("z", n);
  std::vector<double> wanted = start_vector(n);
  fill(x, wanted);
  for (int round = 0; round < 4; round++) {
    y(i) = B(i, j) * x(j);
    z(i) = E(i, j) * x(j);
    EXPECT_EQ(gathered(y), b * wanted);
    EXPECT_EQ(gathered(z), e * wanted);
    // While the vector stands nothing travels: each has what it brought.
    y.compute();
    z.compute();
    EXPECT_EQ(gathered(y), b * wanted);
    EXPECT_EQ(gathered(z), e * wanted);
    x(i) = min(y(i) + z(i), 5.0);
    std::vector<double> sums = b * wanted, more = e * wanted;
    for (size_t r = 0; r < sums.size(); r++) wanted[r] = std::min(sums[r] + more[r], 5.0);
    EXPECT_EQ(gathered(x), wanted) << n << " rows, round " << round;
  }
}

TEST(Ghosts, OfStatementsThatReadOneVectorAreEachTheirOwn) {
  for (int64_t n : sizes) expect_right_of_both(n, Matrix(n, 1, 3), Matrix(n, 2, 6));
}

// Behind what it owns and around it; around it, twice, of which one comes too late.
TEST(Ghosts, OfStatementsThatReadOneVectorLieAroundItAndBehind) {
  for (int64_t n : sizes) {
    expect_right_of_both(n, Matrix::band(n, 2), Matrix(n, 2, 6));
    expect_right_of_both(n, Matrix(n, 2, 6), Matrix::band(n, 2));
    expect_right_of_both(n, Matrix::band(n, 1), Matrix::band(n, 40));
  }
}

// Non-zeros are dealt out of a matrix that lives by rows: what the first colours have are runs of what is at home.
TEST(Pieces, ThatAreRunsAtHomeAreSeenThereAlsoWhenValuesChange) {
  IndexVar f("f"), fp("fp"), fo("fo"), fi("fi");
  Machine M{Grid(std::max(2, Session::instance().transport().size()))};
  for (int64_t n : {7, 50, 900}) {
    Matrix b = Matrix::skewed(n);
    Tensor<double> B = b.tensor("B"), x = vector("x", n), y = vector("y", n), t = vector("t", n);
    std::vector<double> wanted = start_vector(n);
    fill(x, wanted);
    y(i) = B(i, j) * x(j);
    y.schedule().fuse(i, j, f).pos(f, fp, B(i, j)).divide(fp, fo, fi, M.x).distribute(fo);
    for (int round = 0; round < 4; round++) {
      EXPECT_EQ(gathered(y), b * wanted) << n << " rows, round " << round;
      if (n > 7) { EXPECT_EQ(y.report().pieces[0].moved["B(i,j)"].copied, 0) << "the first rows are there"; }
      if (round % 2) {
        std::vector<double> values(B.values().begin(), B.values().end());
        for (double& v : values) v += 1;
        B.set_values(values);
      } else B(i, j) = B(i, j) + B(i, j);  // in place, or in other memory
      for (auto& [at, value] : b.stored) value = round % 2 ? value + 1 : 2 * value;
      y(i) = B(i, j) * x(j);
      y.schedule().fuse(i, j, f).pos(f, fp, B(i, j)).divide(fp, fo, fi, M.x).distribute(fo);
    }
  }
}

TEST(Ghosts, StayWhileTheVectorDoes) {
  for (int64_t n : sizes) {
    Matrix b(n, 3, 4), e(n, 4, 4);
    Tensor<double> B = b.tensor("B"), E = e.tensor("E"), x = vector("x", n), y = vector("y", n), z = vector("z", n);
    std::vector<double> wanted = start_vector(n);
    fill(x, wanted);
    for (int round = 0; round < 3; round++) {
      y(i) = B(i, j) * x(j);
      EXPECT_EQ(gathered(y), b * wanted);
      z(i) = E(i, j) * x(j);
      EXPECT_EQ(gathered(z), e * wanted);
      // The first plan runs again, with the ghosts of before.
      std::vector<double> values(B.values().begin(), B.values().end());
      for (double& v : values) v += 1;
      for (auto& [at, value] : b.stored) value += 1;
      B.set_values(values);
    }
  }
}

TEST(Ghosts, OfTwoVectorsAreFoundByTheSameCoordinates) {
  for (int64_t n : sizes) {
    Matrix b(n, 5, 3);
    Tensor<double> B = b.tensor("B"), x = vector("x", n), w = vector("w", n), y = vector("y", n), z = vector("z", n);
    std::vector<double> of_x = start_vector(n), of_w = of_x;
    std::reverse(of_w.begin(), of_w.end());
    fill(x, of_x);
    fill(w, of_w);
    z(i) = B(i, j) * w(j);  // has rows behind one of the two
    EXPECT_EQ(gathered(z), b * of_w);
    for (int round = 0; round < 3; round++) {
      y(i) = B(i, j) * x(j) * w(j);
      std::vector<double> both = of_x;
      for (size_t r = 0; r < both.size(); r++) both[r] *= of_w[r];
      EXPECT_EQ(gathered(y), b * both);
      for (double& v : of_x) v += 1;
      fill(x, of_x);
    }
    z(i) = B(i, j) * w(j);
    EXPECT_EQ(gathered(z), b * of_w);
  }
}

TEST(Ghosts, OfAVectorThatIsWrittenMeanwhileAreOld) {
  for (int64_t n : sizes) {
    Matrix b(n, 6, 2);
    Tensor<double> B = b.tensor("B"), x = vector("x", n), y = vector("y", n);
    std::vector<double> wanted = start_vector(n);
    fill(x, wanted);
    for (int round = 0; round < 3; round++) {
      y(i) = B(i, j) * x(j);
      EXPECT_EQ(gathered(y), b * wanted);
      x(i) = B(i, j) * x(j);
      wanted = b * wanted;
      EXPECT_EQ(gathered(x), wanted);
      x(i) = min(x(i), 5.0);
      wanted = small(wanted);
    }
  }
}

TEST(Ghosts, OfRowsOfAFactor) {
  for (int64_t n : sizes) {
    Matrix b(n, 7, 3);
    Tensor<double> B = b.tensor("B"), C("C", {n, 40}, {Dense, Dense}), A("A", {n, 40}, {Dense, Dense});
    for (int round = 0; round < 3; round++) {
      C.fill([&](std::span<const int64_t> at) { return double((at[0] * 7 + at[1] + round) % 5); });
      A(i, k) = B(i, j) * C(j, k);
      for (int64_t column : {0, 17, 39}) {
        std::vector<double> x(static_cast<size_t>(n)), found(static_cast<size_t>(n));
        for (int64_t r = 0; r < n; r++) x[size_t(r)] = double((r * 7 + column + round) % 5);
        for (const auto& [at, value] : A.gather())
          if (at[1] == column) found[size_t(at[0])] = value;
        EXPECT_EQ(found, b * x) << n << " rows, column " << column;
      }
    }
  }
}

TEST(Ghosts, AreGivenUpWithTheStatementsThatReadThem) {
  int64_t n = 3000;
  Matrix b(n, 8, 5);
  Tensor<double> B = b.tensor("B"), x = vector("x", n);
  std::vector<double> wanted = start_vector(n);
  fill(x, wanted);
  auto first_free = [&] {
    const Home& home = data_of(*find_tensor(x.var()));
    int64_t out = 0;
    for (int64_t q = home.colours().lo; q < home.colours().hi; q++)
      out = std::max(out, home.tails().find(q, int64_t(1) << 40).lo);
    return out;
  };
  int64_t once = 0;
  for (int round = 0; round < 3; round++) {
    Tensor<double> y = vector("y", n), z = vector("z", n);
    y(i) = B(i, j) * x(j);
    EXPECT_EQ(gathered(y), b * wanted);
    if (round == 0) once = first_free();
    EXPECT_EQ(first_free(), once);
    z(i) = B(i, j) * x(j);
    EXPECT_EQ(gathered(z), b * wanted);
    EXPECT_EQ(first_free(), 2 * once);
  }
  if (Session::instance().transport().size() > 1) { EXPECT_GT(once, 0); }
}

// Wherever memory ends: while pieces are planned, while values are under way, where the result is made.
TEST(Ghosts, ArriveAlsoWhereARunFails) {
  int64_t n = 3000;
  Matrix b(n, 10, 5);
  Tensor<double> B = b.tensor("B");
  for (size_t left = 0; left < size_t(1) << 20; left = left * 2 + 1000) {
    Tensor<double> y = vector("y", n);
    std::vector<double> wanted = start_vector(n);
    {
      Tensor<double> gone = vector("gone", n);
      fill(gone, wanted);
      memory::set_limit(memory::bytes_held() + left);
      try {
        y(i) = B(i, j) * gone(j);
        y.compute();
      } catch (const std::exception&) {}
      memory::set_limit(SIZE_MAX);
    }
    Tensor<double> x = vector("x", n), z = vector("z", n);
    fill(x, wanted);
    z(i) = B(i, j) * x(j);
    EXPECT_EQ(gathered(z), b * wanted);
    EXPECT_EQ(gathered(x), wanted) << "nothing of what failed is still on its way";
  }
}

TEST(Ghosts, LeaveValuesThatSomebodyLooksAtWhereTheyAre) {
  int64_t n = 3000;
  Matrix b(n, 9, 5);
  Tensor<double> B = b.tensor("B"), x = vector("x", n), y = vector("y", n);
  std::vector<double> wanted = start_vector(n);
  fill(x, wanted);
  std::span<const double> here = x.values();
  std::vector<double> copy(here.begin(), here.end());
  y(i) = B(i, j) * x(j);
  EXPECT_EQ(gathered(y), b * wanted);
  EXPECT_TRUE(std::equal(here.begin(), here.end(), copy.begin())) << "until it has other contents";
  EXPECT_EQ(std::vector<double>(x.values().begin(), x.values().end()), copy);
}

}  // namespace
}  // namespace spdistal
