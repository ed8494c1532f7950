#include <gtest/gtest.h>

#include "spdistal/spdistal.hpp"

namespace spdistal {
namespace {

class Arrays : public ::testing::Test {
 protected:
  Arrays() {
    B.insert({0, 1}, 2.0);
    B.insert({2, 0}, 3.0);
    B.insert({2, 3}, 5.0);
    B.pack();
  }
  Tensor<double> B{"B", {3, 4}, CSR};
  IndexVar i, j;
};

std::vector<int64_t> numbers(const IndexSpan& span) {
  std::vector<int64_t> out;
  for (size_t k = 0; k < span.size(); k++) out.push_back(span[k]);
  return out;
}

TEST_F(Arrays, AreThoseOfTheLevels) {
  EXPECT_EQ(numbers(B.pos(1)), (std::vector<int64_t>{0, 1, 1, 3}));
  EXPECT_EQ(numbers(B.crd(1)), (std::vector<int64_t>{1, 0, 3}));
  EXPECT_EQ(std::vector<double>(B.values().begin(), B.values().end()), (std::vector<double>{2, 3, 5}));
  EXPECT_EQ(B.pos(0).size(), 0u);
  EXPECT_EQ(B.crd(1).bytes(), 4u);
  EXPECT_EQ(B.crd(1).as<int32_t>()[2], 3);
  EXPECT_THROW(B.crd(1).as<int64_t>(), UserError);
  EXPECT_THROW(B.crd(2), UserError);
}

TEST_F(Arrays, HaveTheNamesThatLevelsGiveThem) {
  Tensor<double> A({3, 4}, Format({Dense, Bitmap})), C({3, 4}, Format({Dense, Banded}));
  A(i, j) = B(i, j);
  C(i, j) = B(i, j);
  EXPECT_EQ(numbers(A.array("mask", 1)), (std::vector<int64_t>{0, 1, 0, 0, 0, 0, 0, 0, 1, 0, 0, 1}));
  EXPECT_EQ(A.array("mask", 1).as<uint8_t>()[1], 1);
  EXPECT_EQ(A.crd(1).size(), 0u);
  EXPECT_EQ(numbers(C.array("pos", 1)), (std::vector<int64_t>{0, 1, 1, 5}));
  EXPECT_EQ(C.array("lo", 1)[0], 1);
  EXPECT_EQ(C.array("lo", 1)[2], 0);
  try {
    B.array("mask", 1);
    ADD_FAILURE() << "a compressed level has no mask";
  } catch (const UserError& error) {
    EXPECT_STREQ(error.what(), "error: level 1 of B is Compressed, which has no array 'mask'\nhint: it has pos, crd");
  }
}

TEST_F(Arrays, OfAResultComeWithItsValue) {
  Tensor<double> A({3, 4}, CSR);
  A(i, j) = 2.0 * B(i, j);
  EXPECT_EQ(A.values()[2], 10);
  EXPECT_EQ(A.pieces(), 1);
}

TEST_F(Arrays, TakeOtherValuesAndKeepThePattern) {
  Tensor<double> a({3}, Format({Dense})), before({3}, Format({Dense}));
  before(i) = B(i, j);
  std::vector<double> values{1, 10, 100};
  B.set_values(values);
  a(i) = B(i, j);
  EXPECT_EQ(before.at({2}), 8);
  EXPECT_EQ(a.at({2}), 110);
  EXPECT_EQ(B.nnz(), 3);
  values.pop_back();
  EXPECT_THROW(B.set_values(values), UserError);
}

TEST_F(Arrays, ThatWereLentMayChange) {
  std::vector<double> values{1, 2, 3};
  auto x = Tensor<double>::view_dense({3}, values);
  Tensor<double> y({3}, Format({Dense}));
  y(i) = x(i);
  EXPECT_EQ(y.at({0}), 1);
  values[0] = 7;
  x.changed();
  y.compute();
  EXPECT_EQ(y.at({0}), 7);
}

TEST_F(Arrays, OfSeveralPiecesAreRefused) {
  Machine M(Grid(2));
  DistVar d;
  Tensor<double> x({4}, Format({Dense}, Distribution({d}, M, {d})));
  x.fill(1.0);
  EXPECT_EQ(x.pieces(), 2);
  EXPECT_THROW(x.values(), UserError);
}

}  // namespace
}  // namespace spdistal
