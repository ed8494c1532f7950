// Solvers against elimination in a dense matrix, on any number of ranks.
#include "spdistal/solvers.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <random>

#include "spdistal/spdistal.hpp"

namespace spdistal {
namespace {

using Matrix = std::vector<std::vector<double>>;
using Vector = std::vector<double>;

// Gauss with pivots.
Vector solved(Matrix m, Vector b) {
  size_t n = b.size();
  for (size_t c = 0; c < n; c++) {
    size_t pivot = c;
    for (size_t r = c; r < n; r++)
      if (std::abs(m[r][c]) > std::abs(m[pivot][c])) pivot = r;
    std::swap(m[c], m[pivot]), std::swap(b[c], b[pivot]);
    for (size_t r = c + 1; r < n; r++) {
      double times = m[r][c] / m[c][c];
      for (size_t k = c; k < n; k++) m[r][k] -= times * m[c][k];
      b[r] -= times * b[c];
    }
  }
  for (size_t r = n; r-- > 0;) {
    for (size_t k = r + 1; k < n; k++) b[r] -= m[r][k] * b[k];
    b[r] /= m[r][r];
  }
  return b;
}

enum class Shape { Symmetric, Any };

// Few entries beside a diagonal that outweighs them.
Matrix random_matrix(size_t n, Shape shape, uint64_t seed) {
  std::mt19937_64 random(seed);
  auto number = [&] { return std::uniform_real_distribution<double>(-1, 1)(random); };
  Matrix out(n, Vector(n, 0));
  for (size_t r = 0; r < n; r++)
    for (int k = 0; k < 3; k++) {
      size_t c = random() % n;
      out[r][c] = number();
      if (shape == Shape::Symmetric) out[c][r] = out[r][c];
    }
  for (size_t r = 0; r < n; r++) {
    out[r][r] = 0.5;
    for (size_t c = 0; c < n; c++)
      if (c != r) out[r][r] += 3 * std::abs(out[r][c]);
  }
  return out;
}

Vector random_vector(size_t n) {
  std::mt19937_64 random(5);
  Vector out(n);
  for (double& v : out) v = std::uniform_real_distribution<double>(-1, 1)(random);
  return out;
}

template <class T = double>
Tensor<T> tensor_of(const Matrix& m, const Format& format = CSR) {
  Tensor<T> out("A", {int64_t(m.size()), int64_t(m.size())}, format);
  for (size_t r = 0; r < m.size(); r++)
    for (size_t c = 0; c < m.size(); c++)
      if (m[r][c] != 0) out.insert({int64_t(r), int64_t(c)}, T(m[r][c]));
  out.pack();
  return out;
}

template <class T = double>
Tensor<T> tensor_of(const char* name, const Vector& v, const Format& format = Format({Dense})) {
  Tensor<T> out(name, {int64_t(v.size())}, format);
  out.fill([&](std::span<const int64_t> at) { return T(v[size_t(at[0])]); });
  return out;
}

template <class T>
void expect_near(const Tensor<T>& x, const Vector& expected, double tolerance) {
  for (const auto& [at, value] : x.gather()) EXPECT_NEAR(value, expected[size_t(at[0])], tolerance) << at[0];
}

using Solver = std::function<Solution(const Tensor<double>&, const Tensor<double>&, Tensor<double>&, SolverOptions)>;
struct NamedSolver {
  const char* name;
  Solver solve;
};
std::vector<NamedSolver> all_solvers() {
  return {{"conjugate_gradients", conjugate_gradients<double>},
          {"bicgstab", bicgstab<double>},
          {"gmres", gmres<double>},
          {"jacobi", jacobi<double>}};
}

constexpr size_t n = 24;

TEST(Solvers, FindWhatEliminationFindsFromAnyBeginningInAnyFormat) {
  DistVar x, y;
  Machine M{Grid(ranks())};
  const Vector b = random_vector(n), zero(n, 0), start(n, 3);
  struct Begun {
    Format format;
    Vector from;
  };
  for (const auto& [name, solve] : all_solvers())
    for (const auto& [format, from] : {Begun{CSR, zero}, Begun{CSC, start},
                                       Begun{Format({Dense, Compressed}, Distribution({x, y}, M, {y})), start}}) {
      SCOPED_TRACE(std::string(name) + ", " + format.str());
      Matrix m = random_matrix(n, std::string(name) == "conjugate_gradients" ? Shape::Symmetric : Shape::Any, 1);
      Tensor<double> A = tensor_of(m, format), right = tensor_of("b", b), found = tensor_of("x", from);
      Solution out = solve(A, right, found, {.tolerance = 1e-12});
      EXPECT_TRUE(out.converged);
      EXPECT_GT(out.iterations, 0);
      EXPECT_LE(out.residual, 1e-12);
      expect_near(found, solved(m, b), 1e-9);
    }
}

TEST(Solvers, TellTheResidualRelativeToTheRightSideAsItIs) {
  Matrix m = random_matrix(n, Shape::Symmetric, 2);
  for (const auto& [name, solve] : all_solvers())
    for (double scale : {1e-6, 1e6}) {
      SCOPED_TRACE(name);
      Vector b = random_vector(n), at(n);
      for (double& v : b) v *= scale;
      Tensor<double> x = tensor_of("x", Vector(n, 0));
      Solution out = solve(tensor_of(m), tensor_of("b", b), x, {.tolerance = 1e-4});
      EXPECT_TRUE(out.converged);
      EXPECT_GT(out.residual, 1e-12) << "it went on for longer than it was asked to";
      for (const auto& [place, value] : x.gather()) at[size_t(place[0])] = value;
      double left = 0, size = 0;
      for (size_t r = 0; r < n; r++) {
        double rest = b[r];
        for (size_t c = 0; c < n; c++) rest -= m[r][c] * at[c];
        left += rest * rest, size += b[r] * b[r];
      }
      EXPECT_NEAR(out.residual, std::sqrt(left / size), 1e-12);
    }
}

TEST(Solvers, EndAfterTheIterationsTheyMayMake) {
  Matrix m = random_matrix(n, Shape::Symmetric, 3);
  for (const auto& [name, solve] : all_solvers())
    for (int64_t most : {0, 1, 3}) {
      SCOPED_TRACE(name);
      Tensor<double> x = tensor_of("x", Vector(n, 0));
      Solution out =
          solve(tensor_of(m), tensor_of("b", random_vector(n)), x, {.tolerance = 0, .most_iterations = most});
      EXPECT_FALSE(out.converged);
      EXPECT_EQ(out.iterations, most);
      EXPECT_GT(out.residual, 0);
    }
}

TEST(Solvers, StayWhereTheyBeginIfThatIsTheSolution) {
  Matrix m = random_matrix(n, Shape::Symmetric, 4);
  Vector b = random_vector(n);
  for (const auto& [name, solve] : all_solvers()) {
    SCOPED_TRACE(name);
    Tensor<double> x = tensor_of("x", solved(m, b));
    Solution out = solve(tensor_of(m), tensor_of("b", b), x, {});
    EXPECT_TRUE(out.converged);
    EXPECT_EQ(out.iterations, 0);
  }
}

TEST(Solvers, OfARightSideOfZerosGiveZeros) {
  Matrix m = random_matrix(n, Shape::Symmetric, 4);
  for (const auto& [name, solve] : all_solvers()) {
    SCOPED_TRACE(name);
    Tensor<double> x = tensor_of("x", Vector(n, 1));
    Solution out = solve(tensor_of(m), tensor_of("b", Vector(n, 0)), x, {});
    EXPECT_TRUE(out.converged);
    EXPECT_EQ(out.residual, 0);
    expect_near(x, Vector(n, 0), 0);
  }
}

TEST(Solvers, GmresRestartsAndEndsWithAFullBasis) {
  Matrix m = random_matrix(n, Shape::Any, 6);
  Vector b = random_vector(n);
  Tensor<double> A = tensor_of(m), right = tensor_of("b", b);
  for (int64_t restart : {2, 100}) {
    Tensor<double> x = tensor_of("x", Vector(n, 0));
    Solution out = gmres(A, right, x, {.tolerance = 1e-11, .restart = restart});
    EXPECT_TRUE(out.converged) << restart;
    EXPECT_LE(out.iterations, restart == 100 ? int64_t(n) : 1000) << "a full basis has the solution";
    expect_near(x, solved(m, b), 1e-8);
  }
  // A cyclic shift moves no residual before the last vector.
  Matrix shift(6, Vector(6, 0));
  for (size_t r = 0; r < 6; r++) shift[r][(r + 1) % 6] = 1;
  Tensor<double> x = tensor_of("x", Vector(6, 0));
  Solution out = gmres(tensor_of(shift), tensor_of("b", {1, 0, 0, 0, 0, 0}), x, {});
  EXPECT_TRUE(out.converged);
  EXPECT_EQ(out.iterations, 6);
  expect_near(x, {0, 1, 0, 0, 0, 0}, 1e-12);
}

TEST(Solvers, SayThatTheyDidNotConvergeWhereTheyCannot) {
  // No solution, nothing to multiply by, eigenvalues of both signs, and a diagonal that is outweighed.
  const Matrix singular{{1, 1}, {1, 1}}, nothing{{0, 0}, {0, 0}}, indefinite{{0, 1}, {1, 0}}, heavy{{1, 3}, {3, 1}};
  for (const auto& [name, solve] : all_solvers())
    for (const Matrix& m : {singular, nothing}) {
      if (std::string(name) == "jacobi" && m == nothing) continue;
      SCOPED_TRACE(name);
      Tensor<double> x = tensor_of("x", {0, 0});
      EXPECT_FALSE(solve(tensor_of(m), tensor_of("b", {1, -2}), x, {.most_iterations = 20}).converged);
    }
  Tensor<double> x = tensor_of("x", {0, 0}), y = tensor_of("x", {0, 0});
  EXPECT_FALSE(conjugate_gradients(tensor_of(indefinite), tensor_of("b", {1, -1}), x).converged);
  EXPECT_FALSE(jacobi(tensor_of(heavy), tensor_of("b", {1, -2}), y, {.most_iterations = 40}).converged);
}

TEST(Solvers, TakeFloats) {
  Matrix m = random_matrix(n, Shape::Symmetric, 7);
  Vector b = random_vector(n);
  Tensor<float> A = tensor_of<float>(m), right = tensor_of<float>("b", b), x = tensor_of<float>("x", Vector(n, 0));
  for (auto solve : {conjugate_gradients<float>, bicgstab<float>, gmres<float>, jacobi<float>}) {
    x.fill(0);
    EXPECT_TRUE(solve(A, right, x, {.tolerance = 1e-5}).converged);
    expect_near(x, solved(m, b), 1e-3);
  }
}

void expect_refused(const std::function<void()>& f, const char* said) {
  try {
    f();
    FAIL() << "not refused: " << said;
  } catch (const UserError& error) {
    EXPECT_NE(std::string(error.what()).find(said), std::string::npos) << error.what();
  }
}

TEST(Solvers, RefuseWhatIsNoSystem) {
  Tensor<double> A = tensor_of(random_matrix(4, Shape::Any, 1)), b = tensor_of("b", Vector(4, 1));
  Tensor<double> x = tensor_of("x", Vector(4, 0)), longer = tensor_of("x", Vector(5, 0)), empty("x", {4}, {Dense});
  expect_refused([&] { gmres(A, longer, longer); }, "A of size 4 x 4, b of 5 and x of 5 make no system");
  expect_refused([&] { gmres(b, b, x); }, "A of size 4, b of 4 and x of 4 make no system");
  expect_refused([&] { conjugate_gradients(A, b, b); }, "b and x of a system are the same tensor");
  expect_refused([&] { bicgstab(A, b, x, {.tolerance = -1}); }, "a tolerance of -1");
  expect_refused([&] { gmres(A, b, x, {.restart = 0}); }, "restarts after 0");
  expect_refused([&] { jacobi(tensor_of({{1, 2}, {2, 0}}), tensor_of("b", {1, 1}), x); }, "make no system");
  Tensor<double> two = tensor_of("x", {0, 0});
  expect_refused(
      [&] {
        jacobi(tensor_of({{1, 2}, {2, 0}}), tensor_of("b", {1, 1}), two);
      },
      "the diagonal of A has a zero");
  Tensor<double> sparse("b", {4}, Format({Compressed}));
  sparse.insert({1}, 1), sparse.pack();
  expect_refused([&] { gmres(A, sparse, x); }, "dense vectors");
}

}  // namespace
}  // namespace spdistal
