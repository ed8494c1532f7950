// Tensors of blocks in C++: what goes into them and comes out is an ordinary tensor of half the order.
#include <gtest/gtest.h>

#include <unistd.h>
#include <filesystem>

#include "spdistal/spdistal.hpp"
#include "support/refusal.hpp"

namespace spdistal {
namespace {

using test::refusal;

struct Blocks : ::testing::Test {
  // A matrix of 10 rows and 7 columns, of which blocks of 4 x 2 do not make a whole number.
  std::vector<std::vector<int64_t>> columns{{0, 1, 3, 4, 4, 9, 9}, {0, 1, 6, 2, 5, 6, 0}};
  std::vector<double> entries{1, 2, 3, 4, 5, 6, 7};
  Tensor<double> ordinary = Tensor<double>::from_coo({10, 7}, columns, entries, CSR);

  void expect_blocks(const Tensor<double>& A) const {
    EXPECT_EQ(A.dims(), (std::vector<int64_t>{3, 4, 4, 2}));
    for (int64_t i = 0; i < 10; i++)
      for (int64_t j = 0; j < 7; j++) EXPECT_EQ(A.at({i / 4, j / 2, i % 4, j % 2}), ordinary.at({i, j}));
    EXPECT_EQ(A.nnz(), 6 * 4 * 2) << "six blocks have something in them";
  }
};

TEST_F(Blocks, AreCutFromCoordinatesRowsAndEntriesOfAnOrdinaryMatrix) {
  expect_blocks(Tensor<double>::from_coo({10, 7}, columns, entries, BCSR(4, 2)));
  std::vector<int64_t> pos{0, 1, 2, 2, 3, 5, 5, 5, 5, 5, 7};
  expect_blocks(Tensor<double>::from_csr({10, 7}, pos, columns[1], entries, BCSR(4, 2)));
  Tensor<double> inserted({10, 7}, BCSR(4, 2)), in_blocks({3, 4, 4, 2}, BCSR(4, 2));
  for (size_t e = 0; e < entries.size(); e++) {
    int64_t i = columns[0][e], j = columns[1][e];
    inserted.insert({i, j}, entries[e]);
    in_blocks.insert({i / 4, j / 2, i % 4, j % 2}, entries[e]);
  }
  inserted.pack();
  in_blocks.pack();
  expect_blocks(inserted);
  expect_blocks(in_blocks);
}

TEST_F(Blocks, AreReadFromAndWrittenToFilesOfAnOrdinaryMatrix) {
  std::string name = ::testing::TempDir() + std::to_string(getpid());
  for (const char* suffix : {".mtx", ".tns", ".spd"}) {
    std::string from = name + "from" + suffix, to = name + "to" + suffix;
    ordinary.write(from);
    Tensor<double> A = Tensor<double>::read(from, BCSR(4, 2));
    expect_blocks(A);
    A.write(to);
    // Native files hold the blocks themselves.
    if (std::string(suffix) == ".spd") {
      expect_blocks(Tensor<double>::read(to, BCSR(4, 2)));
    } else {
      Tensor<double> back = Tensor<double>::read(to, CSR);
      EXPECT_EQ(back.dims(), ordinary.dims());
      EXPECT_EQ(back.nnz(), 7);
      for (const auto& [at, value] : ordinary.gather()) EXPECT_EQ(back.at({at[0], at[1]}), value);
    }
    std::filesystem::remove(from);
    std::filesystem::remove(to);
  }
}

TEST_F(Blocks, AreComputedWithAsTensorsOfTwiceTheOrder) {
  Tensor<double> A = Tensor<double>::from_coo({10, 7}, columns, entries, BCSR(4, 2));
  Format blocks1 = Format({Dense, Dense}).blocked({2}), result1 = Format({Dense, Dense}).blocked({4});
  Tensor<double> x({7}, blocks1), y({10}, result1);
  x.fill([](std::span<const int64_t> at) { return double(1 + 2 * at[0] + at[1]); });
  IndexVar io, jo, ii, ji;
  y(io, ii) = A(io, jo, ii, ji) * x(jo, ji);
  std::vector<double> expected(10);
  for (size_t e = 0; e < entries.size(); e++) expected[size_t(columns[0][e])] += entries[e] * double(1 + columns[1][e]);
  for (int64_t i = 0; i < 10; i++) EXPECT_EQ(y.at({i / 4, i % 4}), expected[size_t(i)]);
}

// Few rows are summed in registers, many are not; the sums are the same.
TEST_F(Blocks, AreMultipliedWithRowsOfAMatrix) {
  for (auto [rows, cols] : {std::pair<int64_t, int64_t>{4, 2}, {2, 7}, {8, 8}, {1, 1}, {10, 3}}) {
    Tensor<double> A = Tensor<double>::from_coo({10, 7}, columns, entries, BCSR(rows, cols));
    int64_t down = A.dims()[0], across = A.dims()[1];
    for (int64_t width : {8, 32, 5}) {
      Tensor<double> C({across, cols, width}, Format({Dense, Dense, Dense}));
      Tensor<double> Y({down, rows, width}, Format({Dense, Dense, Dense}));
      C.fill([&](std::span<const int64_t> at) { return double(1 + (at[0] * cols + at[1]) * 3 + at[2]); });
      IndexVar io, ko, ii, ki, j;
      Y(io, ii, j) = A(io, ko, ii, ki) * C(ko, ki, j);
      for (int64_t i = 0; i < 10; i++)
        for (int64_t k = 0; k < width; k++) {
          double expected = 0;
          for (size_t e = 0; e < entries.size(); e++)
            if (columns[0][e] == i) expected += entries[e] * double(1 + columns[1][e] * 3 + k);
          ASSERT_EQ(Y.at({i / rows, i % rows, k}), expected)
              << rows << " x " << cols << ", column " << k << " of " << width;
        }
    }
  }
}

TEST_F(Blocks, RefuseWhatLiesOutsideAndSizesThatAreNotKnown) {
  EXPECT_NE(refusal([&] {
              Tensor<double>::from_coo({10, 7}, {{10}, {0}}, {1}, BCSR(4, 2));
            }).find("coordinate 10 lies outside dimension 0, whose size is 10"),
            std::string::npos);
  Param n;
  EXPECT_NE(refusal([&] {
              Tensor<double>({n, 7}, BCSR(4, 2));
            }).find("has a size that is not known yet"),
            std::string::npos);
}

}  // namespace
}  // namespace spdistal
