// Tensors over arrays of the user: used in place, kept alive, never written.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/state.hpp"
#include "spdistal/spdistal.hpp"
#include "support/refusal.hpp"

namespace spdistal {
namespace {

using ::testing::HasSubstr;

struct Borrow : ::testing::Test {
  // 2 . . 3
  // . . . .
  // -1 . 4 .
  std::vector<int64_t> pos{0, 2, 2, 4};
  std::vector<int32_t> crd{0, 3, 0, 2};
  std::vector<double> values{2, 3, -1, 4}, dense{1, 10, 100, 1000};
  IndexVar i{"i"}, j{"j"}, io{"io"}, ii{"ii"};
  Tensor<double> a{"a", {3}, {Dense}};

  Tensor<double> rows(const Format& format = CSR) {
    return Tensor<double>::view_csr({3, 4}, pos, crd, values, nullptr, format);
  }
};

template <class T>
std::vector<T> elements(const Tensor<T>& tensor) {
  std::vector<T> out;
  for (const auto& [at, value] : tensor.gather()) out.push_back(value);
  return out;
}

TEST_F(Borrow, ArraysAreUsedInPlace) {
  Tensor<double> B = rows(), c = Tensor<double>::view_dense({4}, dense);
  EXPECT_EQ(B.at({2, 2}), 4);
  EXPECT_EQ(c.at({3}), 1000);
  a(i) = B(i, j) * c(j);
  a.compute();
  EXPECT_EQ(elements(a), (std::vector<double>{3002, 0, 399}));
  values[3] = 5;  // it is the same memory
  EXPECT_EQ(B.at({2, 2}), 5);
  dense[2] = 0;
  EXPECT_EQ(c.at({2}), 0);
}

TEST_F(Borrow, TheOwnerLivesAsLongAsTheTensor) {
  auto mine = std::make_shared<std::vector<double>>(dense);
  std::weak_ptr<std::vector<double>> watched = mine;
  {
    Tensor<double> c = Tensor<double>::view_dense({4}, *mine, ArrayOrder::RowMajor, mine);
    mine.reset();
    EXPECT_FALSE(watched.expired());
    EXPECT_EQ(c.at({1}), 10);
  }
  EXPECT_TRUE(watched.expired());
}

TEST_F(Borrow, WhoIsAssignedToOrFilledGetsMemoryOfItsOwn) {
  std::vector<double> before = dense;
  Tensor<double> c = Tensor<double>::view_dense({4}, dense), d = Tensor<double>::view_dense({4}, dense),
                 e = Tensor<double>::view_dense({4}, dense);
  c(i) = d(i) * 2.0;
  c.compute();
  d.fill(7);
  e(i) += d(i);
  e.schedule().divide(i, io, ii, 2).distribute(io).communicate({d, e}, io);
  e.compute();
  EXPECT_EQ(dense, before);
  EXPECT_EQ(elements(c), (std::vector<double>{2, 20, 200, 2000}));
  EXPECT_EQ(elements(d), (std::vector<double>{7, 7, 7, 7}));
  EXPECT_EQ(elements(e), (std::vector<double>{8, 17, 107, 1007}));
}

TEST_F(Borrow, MatricesByColumns) {
  std::vector<int32_t> columns{0, 1, 2, 2, 3}, at{0, 2, 1};
  std::vector<double> entries{5, 6, 7};
  Tensor<double> B = Tensor<double>::view_csc({3, 4}, columns, at, entries);
  EXPECT_EQ(B.at({0, 0}), 5);
  EXPECT_EQ(B.at({2, 1}), 6);
  EXPECT_EQ(B.at({1, 3}), 7);
}

TEST_F(Borrow, ArraysThatAreNoTensorAreRefused) {
  using test::refusal;
  EXPECT_THAT(refusal([&] { Tensor<double>::view_dense({5}, dense); }), HasSubstr("has 5 elements, the array 4"));
  EXPECT_THAT(refusal([&] { Tensor<double>::view_dense({4}, dense, Format({Compressed})); }), HasSubstr("is sparse"));
  EXPECT_THAT(refusal([&] { rows({Dense, Dense}); }), HasSubstr("is not that of rows"));
  pos.pop_back();
  EXPECT_THAT(refusal([&] { rows(); }), HasSubstr("has 3 rows, but pos has 3 elements, crd 4 and there are 4 values"));
  pos = {0, 2, 1, 4};
  EXPECT_THAT(refusal([&] { rows(); }), HasSubstr("cannot use these arrays"));
  pos = {0, 2, 2, 4};
  crd = {3, 0, 0, 2};
  EXPECT_THAT(refusal([&] { rows(); }), HasSubstr("cannot use these arrays"));
  crd = {0, 4, 0, 2};
  EXPECT_THAT(refusal([&] { rows(); }), HasSubstr("cannot use these arrays"));
}

}  // namespace
}  // namespace spdistal
