// Windows in statements of C++: read from tensors of any format, and assigned to dense ones.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "spdistal/spdistal.hpp"

namespace spdistal {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::vector<double> all_of(const Tensor<double>& a) {
  size_t count = 1;
  for (int64_t n : a.dims()) count *= size_t(n);
  std::vector<double> out(count);
  a.to_dense(out);
  return out;
}
Tensor<double> vector_of(const std::vector<double>& values, const Format& format) {
  Tensor<double> out({int64_t(values.size())}, format);
  for (size_t i = 0; i < values.size(); i++)
    if (values[i] != 0) out.insert({int64_t(i)}, values[i]);
  out.pack();
  return out;
}
// 1 2 3 4 / 5 6 7 8 / 9 10 11 12
Tensor<double> matrix(const Format& format) {
  Tensor<double> out({3, 4}, format);
  for (int64_t i = 0; i < 3; i++)
    for (int64_t j = 0; j < 4; j++) out.insert({i, j}, double(4 * i + j + 1));
  out.pack();
  return out;
}
const std::vector<Format> vectors = {Format({Dense}), Format({Compressed}), Format({Hashed}), Format({Bitmap}),
                                     Format({Banded})};
const std::vector<Format> matrices = {Format({Dense, Dense}),
                                      CSR,
                                      CSC,
                                      COO(2),
                                      Format({Compressed, Compressed}),
                                      Format({Dense, Hashed}),
                                      Format({Dense, Bitmap}),
                                      Format({Dense, Banded})};

TEST(Windows, OfAllFormatsAreRead) {
  IndexVar i("i"), j("j");
  for (const Format& format : vectors) {
    SCOPED_TRACE(format.str());
    Tensor<double> b = vector_of({1, 0, 3, 0, 0, 6}, format), a({5}, Format({Dense})), c({2}, Format({Dense}));
    a(i) = b(i + 1) - b(i);
    EXPECT_THAT(all_of(a), ElementsAre(-1, 3, -3, 0, 6));
    c(i) = b(i(2, 6, 3));
    EXPECT_THAT(all_of(c), ElementsAre(3, 6));
  }
  for (const Format& format : matrices) {
    SCOPED_TRACE(format.str());
    Tensor<double> B = matrix(format), a({3}, Format({Dense})), r({4}, Format({Dense})),
                   W({2, 2}, Format({Dense, Dense}));
    a(i) = B(i, 1);
    EXPECT_THAT(all_of(a), ElementsAre(2, 6, 10));
    r(j) = B(2, j);
    EXPECT_THAT(all_of(r), ElementsAre(9, 10, 11, 12));
    W(i, j) = B(i + 1, j(0, 4, 2));
    EXPECT_THAT(all_of(W), ElementsAre(5, 7, 9, 11));
  }
}

TEST(Windows, OfSparseTensorsMakeSparseResults) {
  IndexVar i("i");
  Tensor<double> b = vector_of({1, 0, 3, 0, 0, 6}, Format({Compressed})), a({5}, Format({Compressed}));
  a(i) = b(i + 1) - b(i);
  EXPECT_THAT(all_of(a), ElementsAre(-1, 3, -3, 0, 6));
  EXPECT_EQ(a.nnz(), 4);
}

TEST(Windows, OfAResultAreAssignedAndTheRestStays) {
  IndexVar i("i"), j("j");
  Tensor<double> A = matrix(Format({Dense, Dense})), b = vector_of({100, 200}, Format({Compressed}));
  A(i + 1, 0) = b(i);
  EXPECT_THAT(all_of(A), ElementsAre(1, 2, 3, 4, 100, 6, 7, 8, 200, 10, 11, 12));
  A(0, j(1, 4, 2)) += 10 * b(j);
  EXPECT_THAT(all_of(A), ElementsAre(1, 1002, 3, 2004, 100, 6, 7, 8, 200, 10, 11, 12));
  A(i, i + 1) = 0.0;
  EXPECT_THAT(all_of(A), ElementsAre(1, 0, 3, 2004, 100, 6, 0, 8, 200, 10, 11, 0));
  A(2, 3).max_with(A(1, j));
  EXPECT_THAT(all_of(A), ElementsAre(1, 0, 3, 2004, 100, 6, 0, 8, 200, 10, 11, 100));
}

TEST(Windows, OfAResultReadItAsItWas) {
  IndexVar i("i");
  Tensor<double> x = vector_of({1, 2, 3, 4}, Format({Dense}));
  x(i + 1) = x(i);
  EXPECT_THAT(all_of(x), ElementsAre(1, 1, 2, 3));
}

TEST(Windows, BesideADiagonalGoAsFarAsTheyFit) {
  IndexVar i("i");
  Tensor<double> A({3, 3}, Format({Dense, Dense})), b = vector_of({5, 6, 7}, Format({Dense}));
  A(i, i + 1) = b(i);
  EXPECT_THAT(all_of(A), ElementsAre(0, 5, 0, 0, 0, 6, 0, 0, 0));
}

TEST(Windows, OfWhatHoldsNothingBeginWithZeros) {
  IndexVar i("i");
  Tensor<double> a({4}, Format({Dense})), b = vector_of({7, 8}, Format({Dense}));
  a(i(1, 3)) = b(i);
  EXPECT_THAT(all_of(a), ElementsAre(0, 7, 8, 0));
}

TEST(Windows, OfASparseResultAreRefused) {
  IndexVar i("i");
  Tensor<double> a = vector_of({1, 0, 3}, Format({Compressed})), b = vector_of({7, 8}, Format({Dense}));
  try {
    a(i(1, 3)) = b(i);
    FAIL() << "accepted";
  } catch (const UserError& error) { EXPECT_THAT(error.what(), HasSubstr("is a window of")); }
}

TEST(Windows, FollowSizesThatChange) {
  IndexVar i("i");
  for (int64_t n : {6, 4, 9}) {
    Tensor<double> b({n}, Format({Compressed})), s;
    for (int64_t k = 0; k < n; k++) b.insert({k}, double(k));
    b.pack();
    s() = b(i + 1) * b(i);
    double expected = 0;
    for (int64_t k = 0; k + 1 < n; k++) expected += double(k * (k + 1));
    EXPECT_EQ(double(s), expected);
  }
}

}  // namespace
}  // namespace spdistal
