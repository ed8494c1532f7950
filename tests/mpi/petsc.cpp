// Matrices and vectors wrapped for PETSc, and what PETSc computes with them.
#include "spdistal/petsc.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "spdistal/spdistal.hpp"

namespace spdistal {
namespace {

// PETSc is there as long as tests run.
class Petsc : public ::testing::Environment {
 public:
  void SetUp() override { ASSERT_EQ(PetscInitializeNoArguments(), 0); }
  void TearDown() override { PetscFinalize(); }
};
const auto* environment = ::testing::AddGlobalTestEnvironment(new Petsc);

// Known at every place: (r, c) is there where 7 divides r * 3 + c * 5, with a value of its own.
PetscScalar element(int64_t r, int64_t c, double times) { return times * (double(r) - 0.5 * double(c)); }
Tensor<PetscScalar> matrix(int64_t rows, int64_t columns, double times = 1) {
  Tensor<PetscScalar> out("A", {rows, columns}, CSR);
  for (int64_t r = 0; r < rows; r++)
    for (int64_t c = 0; c < columns; c++)
      if ((r * 3 + c * 5) % 7 == 0) out.insert({r, c}, element(r, c, times));
  out.pack();
  return out;
}
PetscScalar row_times_x(int64_t r, int64_t columns, double times) {
  PetscScalar sum = 0;
  for (int64_t c = 0; c < columns; c++)
    if ((r * 3 + c * 5) % 7 == 0) sum += element(r, c, times) * std::sqrt(double(c));
  return sum;
}
Tensor<PetscScalar> vector(int64_t n) {
  Tensor<PetscScalar> out("x", {n}, {Dense});
  out.fill([](std::span<const int64_t> at) { return PetscScalar(std::sqrt(double(at[0]))); });
  return out;
}
std::string refused(const std::function<void()>& f) {
  try {
    f();
  } catch (const UserError& error) { return error.diagnostic().message; }
  return "accepted";
}

TEST(Petsc, MultipliesAsWeDo) {
  for (auto [rows, columns] : {std::pair<int64_t, int64_t>{23, 23}, {17, 40}, {40, 17}, {1, 5}}) {
    SCOPED_TRACE(std::to_string(rows) + " x " + std::to_string(columns));
    Tensor<PetscScalar> A = matrix(rows, columns), x = vector(columns), ours("ours", {rows}, {Dense});
    Tensor<PetscScalar> theirs("theirs", {rows}, {Dense});
    theirs.fill(0);
    petsc::Matrix mat(A);
    petsc::Vector in(x), out(mat.rows());
    ASSERT_EQ(MatMult(mat, in, out), 0);
    petsc::assign(theirs, out);
    IndexVar i("i"), j("j");
    ours(i) = A(i, j) * x(j);
    std::vector<PetscScalar> one(static_cast<size_t>(rows)), other(one.size());
    ours.to_dense(one), theirs.to_dense(other);
    for (int64_t r = 0; r < rows; r++) {
      PetscScalar wanted = row_times_x(r, columns, 1);
      EXPECT_NEAR(std::abs(one[size_t(r)] - wanted), 0, 1e-12 * (1 + std::abs(wanted)));
      EXPECT_NEAR(std::abs(other[size_t(r)] - wanted), 0, 1e-12 * (1 + std::abs(wanted)));
    }
  }
}

TEST(Petsc, SeesOtherValuesOfTheSamePattern) {
  Tensor<PetscScalar> A = matrix(20, 20), x = vector(20), y("y", {20}, {Dense});
  y.fill(0);
  petsc::Matrix mat(A);
  Tensor<PetscScalar> twice = matrix(20, 20, 2);
  mat.update(twice);
  petsc::Vector in(x), out(mat.rows());
  ASSERT_EQ(MatMult(mat, in, out), 0);
  petsc::assign(y, out);
  std::vector<PetscScalar> all(20);
  y.to_dense(all);
  for (int64_t r = 0; r < 20; r++) EXPECT_NEAR(std::abs(all[size_t(r)] - row_times_x(r, 20, 2)), 0, 1e-12);
}

TEST(Petsc, ReadsVectorsWhereTheyLie) {
  Tensor<PetscScalar> x = vector(30);
  petsc::Vector in(x);
  const PetscScalar* values = nullptr;
  ASSERT_EQ(VecGetArrayRead(in, &values), 0);
  EXPECT_EQ(values, x.values().data());
  VecRestoreArrayRead(in, &values);
  PetscReal norm = 0;
  VecNorm(in, NORM_2, &norm);
  EXPECT_NEAR(norm, std::sqrt(29 * 30 / 2.0), 1e-12);
}

TEST(Petsc, IsRefusedWhatDoesNotLieInRows) {
  Tensor<PetscScalar> columns("C", {8, 8}, CSC), sparse("s", {8}, {Compressed});
  columns.insert({1, 2}, PetscScalar(1)), columns.pack();
  sparse.insert({1}, PetscScalar(1)), sparse.pack();
  EXPECT_NE(refused([&] { petsc::Matrix wrapped(columns); }).find("the format ds:1,0"), std::string::npos);
  EXPECT_EQ(refused([&] { petsc::Vector wrapped(sparse); }),
            "the tensor has the format s, and PETSc's vectors are dense");
  if (ranks() == 1) return;
  Machine M{Grid(ranks())};
  DistVar x, y;
  Tensor<PetscScalar> everywhere("e", {8}, Format({Dense}, Distribution({x}, M, {y})));
  everywhere.fill(PetscScalar(1));
  EXPECT_NE(refused([&] { petsc::Vector wrapped(everywhere); }).find("does not lie in blocks of rows"),
            std::string::npos);
}

}  // namespace
}  // namespace spdistal
