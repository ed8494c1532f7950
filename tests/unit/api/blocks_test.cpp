// Tensors of blocks in C++: what goes into them and comes out is an ordinary tensor of half the order.
#include <gtest/gtest.h>

#include <unistd.h>
#include <algorithm>
#include <filesystem>
#include <map>

#include "io/files.hpp"
#include "spdistal/spdistal.hpp"
#include "support/random_number.hpp"
#include "support/random_tensor.hpp"
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
  Tensor<double> A("A", {10, 7}, BCSR(4, 2));
  EXPECT_NE(refusal([&] {
              A.insert({10, 0}, 1.0);
            }).find("coordinate 10 lies outside dimension 0 of A, whose size is 10"),
            std::string::npos);
  EXPECT_NE(refusal([&] {
              Tensor<double>({3, 4, 5, 2}, BCSR(4, 2));
            }).find("the third dimension is 5, but blocks of the format 'dsdd/4x2' have 4 elements there"),
            std::string::npos);
  Param rows, n;
  EXPECT_EQ(Tensor<double>({n, n, rows, 2}, BCSR(4, 2)).extents()[2].value(), 4);
  EXPECT_NE(refusal([&] {
              Tensor<double>({n, 7}, BCSR(4, 2));
            }).find("has a size that is not known yet"),
            std::string::npos);
}

// Elements of an ordinary tensor, by coordinates.
using Elements = std::map<std::vector<int64_t>, double>;

// A tensor of blocks in any format, and the ordinary one that it stands for.
struct RandomBlocks {
  explicit RandomBlocks(uint64_t seed) : random(seed) {
    size_t order = size_t(test::number(random, 1, 3));
    std::vector<int64_t> blocks;
    for (size_t d = 0; d < order; d++) {
      dims.push_back(test::one_in(random, 10) ? 0 : test::number(random, 1, 9));
      blocks.push_back(test::number(random, 1, 4));
    }
    format = test::draw_format(random, 2 * order).blocked(blocks);
    columns.resize(order);
    bool none = std::ranges::find(dims, 0) != dims.end();
    for (int64_t count = none ? 0 : test::number(random, 0, 12); count > 0; count--) {
      std::vector<int64_t> at;
      for (int64_t dim : dims) at.push_back(test::number(random, 0, dim - 1));
      if (!wanted.emplace(at, double(test::number(random, 1, 9))).second) continue;
      for (size_t d = 0; d < order; d++) columns[d].push_back(at[d]);
      values.push_back(wanted.at(at));
    }
  }

  // Where an element is in its blocks.
  std::vector<int64_t> place_of(const std::vector<int64_t>& at) const {
    std::vector<int64_t> out;
    for (size_t d = 0; d < at.size(); d++) out.push_back(at[d] / format.blocks()[d]);
    for (size_t d = 0; d < at.size(); d++) out.push_back(at[d] % format.blocks()[d]);
    return out;
  }

  void expect_blocks(const Tensor<double>& A) const {
    Elements found;
    for (const auto& [at, value] : A.gather()) {
      if (value == 0) continue;
      std::vector<int64_t> ordinary;
      for (size_t d = 0; d < dims.size(); d++) ordinary.push_back(at[d] * format.blocks()[d] + at[dims.size() + d]);
      found.emplace(ordinary, value);
    }
    EXPECT_EQ(found, wanted);
    for (size_t d = 0; d < dims.size(); d++) {
      EXPECT_EQ(A.dims()[d], (dims[d] + format.blocks()[d] - 1) / format.blocks()[d]);
      EXPECT_EQ(A.dims()[dims.size() + d], format.blocks()[d]);
    }
  }
  void expect_ordinary(const Tensor<double>& A) const {
    Elements found;
    for (const auto& [at, value] : A.gather())
      if (value != 0) found.emplace(at, value);
    EXPECT_EQ(found, wanted);
    EXPECT_EQ(A.dims(), dims);
  }

  std::mt19937_64 random;
  std::vector<int64_t> dims;
  Format format;
  Elements wanted;
  std::vector<std::vector<int64_t>> columns;
  std::vector<double> values;
};

TEST(BlocksOfAnyFormat, AreThoseOfTheOrdinaryTensorHoweverItComes) {
  std::string name = ::testing::TempDir() + std::to_string(getpid());
  for (uint64_t seed = 1; seed <= 200 && !::testing::Test::HasFailure(); seed++) {
    RandomBlocks c(seed);
    SCOPED_TRACE("seed " + std::to_string(seed) + ": " + c.format.str());
    Tensor<double> A = Tensor<double>::from_coo(c.dims, c.columns, c.values, c.format);
    c.expect_blocks(A);
    std::vector<Extent> sizes(c.dims.begin(), c.dims.end());
    Tensor<double> inserted(sizes, c.format);
    for (const auto& [at, value] : c.wanted) inserted.insert(test::one_in(c.random, 2) ? at : c.place_of(at), value);
    inserted.pack();
    c.expect_blocks(inserted);

    Tensor<double> ordinary = Tensor<double>::from_coo(c.dims, c.columns, c.values, CSF(c.dims.size()));
    for (const FileFormat* file : all_file_formats()) {
      bool any_order = file->suffix == ".tns" || file->keeps_storage;
      if (!file->missing.empty() || (c.dims.size() > 2 && !any_order)) continue;
      SCOPED_TRACE(file->suffix);
      std::string from = name + "from" + std::string(file->suffix), to = name + "to" + std::string(file->suffix);
      ordinary.write(from);
      Tensor<double> read = Tensor<double>::read(from, c.format);
      c.expect_blocks(read);
      read.write(to);
      if (file->keeps_storage) c.expect_blocks(Tensor<double>::read(to, c.format));
      else c.expect_ordinary(Tensor<double>::read(to, CSF(c.dims.size())));
      std::filesystem::remove(from);
      std::filesystem::remove(to);
    }

    if (seed % 20 != 0) continue;  // each of these is compiled
    // Into another format with blocks of these sizes.
    Tensor<double> copy(A.extents(), test::draw_format(c.random, A.order()).blocked(c.format.blocks()));
    IndexVar i, j, k, l, m, n;
    if (A.order() == 2) copy(i, j) = A(i, j);
    if (A.order() == 4) copy(i, j, k, l) = A(i, j, k, l);
    if (A.order() == 6) copy(i, j, k, l, m, n) = A(i, j, k, l, m, n);
    c.expect_blocks(copy);
  }
}

}  // namespace
}  // namespace spdistal
