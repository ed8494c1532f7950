// The C++ face on as many ranks as the launcher started.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>

#include "api/session.hpp"
#include "runtime/transport/deal.hpp"
#include "runtime/transport/mpi.hpp"
#include "runtime/transport/mpi_comm.hpp"
#include "spdistal/spdistal.hpp"
#include "support/refusal.hpp"
#include "unit/io/scratch.hpp"

namespace spdistal {
namespace {

using test::refusal;

const Format dense1({Dense}), dense2({Dense, Dense}), sparse1({Compressed});

runtime::Transport& world() { return Session::instance().transport(); }
int64_t rank() { return world().rank(); }
int64_t ranks() { return world().size(); }

template <class T>
std::vector<std::pair<std::vector<int64_t>, T>> listed(const std::vector<Element<T>>& elements) {
  std::vector<std::pair<std::vector<int64_t>, T>> out;
  for (const auto& [at, value] : elements) out.emplace_back(at, value);
  return out;
}

// Places that a matrix is tried at; some leave ranks without anything, some give elements to several.
std::vector<Format> formats() {
  DistVar x, y, z, f;
  Machine M{Grid(Param())}, three{Grid(3)};
  return {CSR,
          CSC,
          COO(2),
          dense2,
          Format({Dense, Compressed}, Distribution({x, y}, M, {x})),
          Format({Dense, Compressed}, Distribution({x, y}, M, {y})),
          Format({Dense, Compressed}, Distribution({x, y}, fuse({x, y}, f), three, {~f})),
          Format({Dense, Compressed}, {1, 0}, Distribution({x, y}, M, {x})),
          Format({Dense, Compressed}, Distribution({x, y}, M, {z}))};
}

// A folder that the first rank makes and all know.
class Folder {
 public:
  Folder() {
    runtime::Writer name;
    if (rank() == 0) name.put_text((mine_ = std::make_unique<Scratch>())->path(""));
    name_ = runtime::Reader(share(world(), name.take())[0]).take_text();
  }
  ~Folder() { world().barrier(); }
  std::string path(const std::string& name) const { return name_ + name; }

 private:
  std::unique_ptr<Scratch> mine_;
  std::string name_;
};

// Many diagonals of a matrix, by any rank that wants them.
double value_at(int64_t i, int64_t j) { return double(10 * i + j) + 0.5; }
bool is_stored(int64_t i, int64_t j) { return (i * 3 + j) % 4 == 0; }
constexpr int64_t rows = 11, columns = 7;

int64_t stored_in(const Format& format) {
  int64_t out = 0;
  for (int64_t i = 0; i < rows; i++)
    for (int64_t j = 0; j < columns; j++) out += is_stored(i, j);
  return format.is_dense() ? rows * columns : out;
}

void expect_matrix(const Tensor<double>& B) {
  EXPECT_EQ(B.nnz(), stored_in(B.format()));
  EXPECT_EQ(B.at({0, 0}), value_at(0, 0));
  EXPECT_EQ(B.at({10, 2}), is_stored(10, 2) ? value_at(10, 2) : 0);
  std::vector<Element<double>> all = B.gather();
  ASSERT_EQ(int64_t(all.size()), B.nnz());
  std::vector<int> modes = B.format().mode_order();
  std::vector<int64_t> last;
  for (const auto& [at, value] : all) {
    EXPECT_EQ(value, is_stored(at[0], at[1]) ? value_at(at[0], at[1]) : 0);
    std::vector<int64_t> path{at[size_t(modes[0])], at[size_t(modes[1])]};
    EXPECT_LT(last, path) << "elements come in storage order, each once";
    last = path;
  }
  // Every element is listed by one rank.
  LocalElements<double> mine = B.local();
  EXPECT_EQ(world().allreduce(int64_t(mine.size()), runtime::ReduceOp::Sum), B.nnz());
  std::vector<double> counted(size_t(rows * columns));
  for (const auto& [at, value] : mine) {
    counted[size_t(at[0] * columns + at[1])]++;
    EXPECT_EQ(value, is_stored(at[0], at[1]) ? value_at(at[0], at[1]) : 0);
  }
  world().allreduce(counted.data(), counted.size(), ScalarType::Float64, runtime::ReduceOp::Sum);
  EXPECT_EQ(*std::max_element(counted.begin(), counted.end()), 1);
}

TEST(Api, EntriesThatEveryRankInsertsDescribeTheWholeTensor) {
  for (const Format& format : formats()) {
    SCOPED_TRACE(format.str());
    Tensor<double> B("B", {rows, columns}, format);
    for (int i = 0; i < rows; i++)
      for (int j = 0; j < columns; j++)
        if (is_stored(i, j)) B.insert({i, j}, value_at(i, j) - 1), B.insert({i, j}, 1);
    B.pack();
    expect_matrix(B);
  }
}

TEST(Api, EntriesThatRanksInsertTogetherDescribeTheWholeTensor) {
  for (const Format& format : formats()) {
    SCOPED_TRACE(format.str());
    Tensor<double> B("B", {rows, columns}, format);
    for (int64_t i = 0; i < rows; i++)
      for (int64_t j = 0; j < columns; j++) {
        if (!is_stored(i, j)) continue;
        // Of some ranks insert nothing; what several insert adds.
        if (rank() == (i + j) % ranks()) B.insert_local({i, j}, value_at(i, j) - 1);
        if (rank() == 0) B.insert_local({i, j}, 1);
      }
    B.pack();
    expect_matrix(B);
  }
}

TEST(Api, MatricesComeFromListsAndRows) {
  for (const Format& format : formats()) {
    SCOPED_TRACE(format.str());
    std::vector<std::vector<int>> all(2), mine(2);
    std::vector<double> values, own;
    std::vector<int> pos{0}, crd;
    std::vector<uint32_t> own_pos{0}, own_crd;
    for (int i = 0; i < rows; i++) {
      for (int j = 0; j < columns; j++)
        if (is_stored(i, j)) {
          all[0].push_back(i), all[1].push_back(j), crd.push_back(j), values.push_back(value_at(i, j));
          if (i / 4 != rank()) continue;
          mine[0].push_back(i), mine[1].push_back(j), own_crd.push_back(uint32_t(j)), own.push_back(value_at(i, j));
        }
      pos.push_back(int(crd.size()));
      if (i / 4 == rank()) own_pos.push_back(uint32_t(own_crd.size()));
    }
    expect_matrix(Tensor<double>::from_coo({rows, columns}, all, values, format));
    expect_matrix(Tensor<double>::from_csr({rows, columns}, pos, crd, values, format));
    if (ranks() < 3) continue;  // three ranks have all rows between them
    expect_matrix(Tensor<double>::from_coo_local({rows, columns}, mine, own, format));
    expect_matrix(Tensor<double>::from_csr_local({rows, columns}, 4 * rank(), own_pos, own_crd, own, format));
  }
  Tensor<bool> bits = Tensor<bool>::from_coo({3}, {{0, 2}}, {true, true}, sparse1);
  EXPECT_EQ(bits.at({2}), true);
}

TEST(Api, WhatRanksMeanDifferentlyIsRefusedOnAll) {
  if (ranks() == 1) GTEST_SKIP() << "takes several ranks";
  Tensor<double> B("B", {4, 4}, CSR);
  B.insert({0, 0}, rank() == 1 ? 2 : 1);
  EXPECT_EQ(refusal([&] { B.pack(); }),
            "error: the list of entries on rank 1 is not that of rank 0\n"
            "hint: this call describes the whole; every rank makes it alike");
  if (rank() == 1) B.insert({1, 1}, 1);
  EXPECT_EQ(refusal([&] { B.pack(); }),
            "error: the list of entries on rank 1 is not that of rank 0\n"
            "hint: this call describes the whole; every rank makes it alike");
  B.insert({0, 0}, 1);
  if (rank() == 1) B.insert_local({1, 1}, 1);
  EXPECT_EQ(
      refusal([&] { B.pack(); }),
      "error: B has entries of both insert and insert_local before one pack()\n"
      "hint: insert takes the same entries on every rank, insert_local each rank its own: use one of them for all");
}

TEST(Api, WhatOneRankGivesWronglyIsRefusedOnAll) {
  auto wrong = [](bool here) { return here ? int64_t(9) : int64_t(1); };
  bool last = rank() == ranks() - 1;
  std::string named = ranks() == 1 ? "error: " : "error: rank " + std::to_string(ranks() - 1) + ": ";
  EXPECT_EQ(refusal([&] {
              Tensor<double>::from_coo_local({4, 4}, {{wrong(last)}, {0}}, {1}, CSR);
            }).substr(0, named.size()),
            named);
  EXPECT_EQ(refusal([&] {
              Tensor<double>::from_coo_local({4}, {{1, 2}}, last ? std::vector{1.0} : std::vector{1.0, 2.0}, sparse1);
            }),
            named + "1 values, but 2 coordinates");
  EXPECT_EQ(refusal([&] {
              Tensor<double>::from_csr_local({4, 4}, 0, {0, wrong(last)}, {0}, {1}, CSR);
            }).substr(0, named.size()),
            named);
  Tensor<double> c("c", {40}, dense1);
  auto fails = [&](std::span<const int64_t> at) {
    if (at[0] == 39) throw UserError("no value for 39");
    return 1.0;
  };
  EXPECT_NE(refusal([&] { c.fill(fails); }).find("no value for 39"), std::string::npos);
  EXPECT_NE(refusal([&] { c.nnz(); }).find("c holds no data"), std::string::npos);
  EXPECT_EQ(world().allreduce(int64_t(1), runtime::ReduceOp::Sum), ranks()) << "the ranks are out of step";
}

TEST(Api, DenseTensorsAreFilledWhereTheyLive) {
  DistVar x, y;
  Machine M{Grid(Param())};
  for (const Format& format :
       {dense2, Format({Dense, Dense}, {1, 0}), Format({Dense, Dense}, Distribution({x, y}, M, {y})),
        Format({Dense, Dense}, Distribution({x, y}, M, {DistVar()}))}) {
    Tensor<double> D("D", {rows, columns}, format);
    for (double extra : {0.0, 1.0}) {
      D.fill([&](std::span<const int64_t> at) { return value_at(at[0], at[1]) + extra; });
      EXPECT_EQ(D.nnz(), rows * columns);
      std::vector<Element<double>> all = D.gather();
      EXPECT_EQ(int64_t(all.size()), rows * columns);
      for (const auto& [at, value] : all) EXPECT_EQ(value, value_at(at[0], at[1]) + extra);
    }
  }
}

TEST(Api, LocalElementsAreThereOnceTheyWereComputed) {
  Tensor<double> a("a", {20}, dense1), c("c", {20}, dense1), s("s");
  IndexVar i("i");
  c.fill([](std::span<const int64_t> at) { return double(at[0]); });
  a(i) = 2 * c(i);
  EXPECT_EQ(refusal([&] { a.local(); }),
            "error: a waits to be computed, which takes all ranks\n"
            "hint: call compute() on every rank first, or ask for gather(), which computes");
  a.compute();
  for (const auto& [at, value] : a.local()) EXPECT_EQ(value, 2.0 * double(at[0]));
  s() = a(i) * c(i);
  EXPECT_EQ(double(s), 2 * 2470.0) << "on every rank";
  EXPECT_EQ(s.nnz(), 1);
}

TEST(Api, TransposesAndConvertedOperandsAreRightWhereverTheyLive) {
  IndexVar i("i"), j("j");
  constexpr int64_t n = 7;
  for (const Format& from : formats())
    for (const Format& to : {CSR, CSC, formats()[4], formats()[5]}) {
      Tensor<double> B("B", {n, n}, from), C("C", {n, n}, CSR), T("T", {n, n}, to), S("S", {n, n}, to);
      auto insert = [&](double scale) {
        for (int64_t r = 0; r < n; r++)
          for (int64_t c = r % 3; c < n; c += 3) B.insert({r, c}, scale * double(10 * r + c)), C.insert({r, c}, 1);
        B.pack();
        C.pack();
      };
      T(i, j) = B(j, i);
      S(i, j) = C(i, j) + B(j, i);
      for (double scale : {1.0, 2.0}) {
        insert(scale);
        T.compute();
        S.compute();
        for (int64_t r = 0; r < n; r++)
          for (int64_t c = 0; c < n; c++) {
            double other = r % 3 == c % 3 ? scale * double(10 * c + r) : 0;
            ASSERT_EQ(T.at({r, c}), other) << from.str() << " to " << to.str() << " at " << r << ", " << c;
            ASSERT_EQ(S.at({r, c}), other + (r % 3 == c % 3 ? 1 : 0)) << from.str() << " and " << to.str();
          }
      }
    }
}

TEST(Api, SizesMayBeBeyondWhatCanBeCounted) {
  int64_t big = int64_t(1) << 40;
  Tensor<double> B("B", {big, big, big}, CSF(3));
  for (int64_t k = 0; k < 50; k++) B.insert({k << 33, big - 1 - k, k * k}, double(k));
  B.pack();
  EXPECT_EQ(B.nnz(), 50);
  EXPECT_EQ(B.at({int64_t(49) << 33, big - 50, 49 * 49}), 49);
  EXPECT_EQ(B.gather().back().at, (std::vector<int64_t>{int64_t(49) << 33, big - 50, 49 * 49}));
  Tensor<double> s("s");
  IndexVar i, j, k;
  s() = B(i, j, k) * B(i, j, k);
  EXPECT_EQ(double(s), 49 * 50 * 99 / 6);
  Folder folder;
  B.write(folder.path("big.tns"));
  B.write(folder.path("big.spd"));
  for (const char* name : {"big.tns", "big.spd"})
    EXPECT_EQ(listed(Tensor<double>::read(folder.path(name), CSF(3)).gather()), listed(B.gather()));
}

TEST(Api, WhatSomeRanksWriteAnyNumberReads) {
  Folder folder;
  Tensor<double> B("B", {rows, columns}, CSR);
  for (int64_t i = 0; i < rows; i++)
    for (int64_t j = 0; j < columns; j++)
      if (is_stored(i, j)) B.insert({i, j}, value_at(i, j));
  B.pack();
  for (const char* name : {"B.mtx", "B.mtx.gz", "B.tns", "B.spd"}) B.write(folder.path(name));
  std::shared_ptr<runtime::Transport> all = runtime::start_mpi();
  int64_t me = rank(), count = ranks();
  for (int64_t readers = 1; readers <= count; readers++) {
    MPI_Comm some;
    MPI_Comm_split(MPI_COMM_WORLD, me < readers ? 0 : MPI_UNDEFINED, int(me), &some);
    if (some != MPI_COMM_NULL) {
      Session::instance().connect(runtime::over_communicator(some));
      EXPECT_EQ(ranks(), readers);
      for (const Format& format : formats())
        for (const char* name : {"B.mtx", "B.mtx.gz", "B.tns", "B.spd"}) {
          SCOPED_TRACE(name + format.str());
          expect_matrix(Tensor<double>::read(folder.path(name), format));
        }
    }
    Session::instance().connect(all);
    if (some != MPI_COMM_NULL) MPI_Comm_free(&some);
  }
}

TEST(Errors, OfRanksThatMeanAnotherStatementNameOne) {
  if (ranks() == 1) return;
  IndexVar i("i"), j("j");
  int64_t odd = ranks() - 1;
  bool me = rank() == odd;
  Tensor<double> a("a", {3}, dense1), B("B", {3, 4}, CSR), c("c", {4}, dense1);
  B.insert({2, 3}, 3);
  B.pack();
  c.fill(1);
  std::string hint = "'\nhint: every rank says the same statements of the same tensors, in the same order";
  if (me) a(i) = 2 * B(i, j) * c(j);
  else a(i) = B(i, j) * c(j);
  EXPECT_EQ(refusal([&] { a.compute(); }), "error: rank " + std::to_string(odd) +
                                               " says 'a(i) = 2 * B(i,j) * c(j)', rank 0 'a(i) = B(i,j) * c(j)" + hint);
  // The ranks are in step, and the next statement is computed.
  a(i) = B(i, j) * c(j);
  EXPECT_EQ(a.at({2}), 3);
}

TEST(Errors, OfRanksThatReadOtherFilesNameOne) {
  if (ranks() == 1) return;
  std::string mine = rank() == 1 ? "other.mtx" : "this.mtx";
  EXPECT_EQ(
      refusal([&] { Tensor<double>::read(mine, CSR); }),
      "error: rank 1 reads 'other.mtx', rank 0 'this.mtx'\nhint: every rank reads the same files, in the same order");
}

}  // namespace
}  // namespace spdistal
