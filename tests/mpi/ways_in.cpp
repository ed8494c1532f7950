// What each way of arrays into tensors copies and sends: what docs/languages.md says of it. And elements on their way out.
#include <gtest/gtest.h>

#include <atomic>
#include <numeric>

#include "api/session.hpp"
#include "base/blocks.hpp"
#include "memory/out_of_memory.hpp"
#include "mpi/allocations.hpp"
#include "runtime/transport/sent.hpp"
#include "spdistal/spdistal.hpp"

namespace spdistal {
namespace {

runtime::Transport& world() { return Session::instance().transport(); }

// A band of three on the rows of one rank, or on all.
struct Band {
  static constexpr int64_t n = 60'000;
  int64_t first;
  std::vector<int64_t> pos{0};
  std::vector<int32_t> crd;
  std::vector<double> values;

  explicit Band(Range rows) : first(rows.lo) {
    for (int64_t r = rows.lo; r < rows.hi; r++) {
      for (int64_t c : {r - 1, r, r + 1})
        if (c >= 0 && c < n) crd.push_back(int32_t(c)), values.push_back(double(r + 2 * c));
      pos.push_back(int64_t(crd.size()));
    }
  }
  static Band mine() { return Band(block(n, world().size(), world().rank())); }
  int64_t bytes() const { return int64_t(pos.size() * 8 + crd.size() * 4 + values.size() * 8); }
};

// a(i) = B(i,j) * x(j) with x = 1: the band sums to 3 (r + 2 r) inside.
void expect_band(const Tensor<double>& B) {
  IndexVar i("i"), j("j");
  Tensor<double> a("a", {Band::n}, {Dense}), x("x", {Band::n}, {Dense});
  x.fill(1);
  a(i) = B(i, j) * x(j);
  EXPECT_EQ(a.at({0}), 2.0);
  for (int64_t r : {int64_t(1), Band::n / 2, Band::n / 3, Band::n - 2}) EXPECT_EQ(a.at({r}), 9.0 * double(r));
}

constexpr int64_t counts = 100'000;  // bookkeeping: versions, sizes, agreements

// Runs a way in with memory for so many bytes, and expects that it sends no more than others.
template <class F>
Tensor<double> expect_cost(int64_t copied, int64_t sent, F&& way_in) {
  runtime::Ledger ledger;
  runtime::Recording recording(world().sent(), ledger);
  memory::set_limit(memory::bytes_held() + size_t(copied + counts));
  Tensor<double> out = way_in();
  memory::set_limit(SIZE_MAX);
  EXPECT_LE(ledger.bytes(), sent + counts);
  return out;
}

// Needs as much as that, too: what is said to be copied is.
template <class F>
void expect_needs(int64_t bytes, F&& way_in) {
  memory::set_limit(memory::bytes_held() + size_t(bytes) / 2);
  EXPECT_THROW(way_in(), SystemError);
  memory::set_limit(SIZE_MAX);
}

TEST(WaysIn, AViewOfRowsWhereTheyBelongCopiesAndSendsNothing) {
  auto mine = std::make_shared<Band>(Band::mine());
  std::weak_ptr<Band> watched = mine;
  {
    Tensor<double> B = expect_cost(0, 0, [&] {
      return Tensor<double>::view_csr_local({Band::n, Band::n}, mine->first, mine->pos, mine->crd, mine->values, mine);
    });
    EXPECT_EQ(B.values().data(), mine->values.data());
    EXPECT_EQ(B.crd(1).data(), mine->crd.data());
    EXPECT_EQ(B.pos(1).data(), mine->pos.data());
    mine.reset();
    EXPECT_FALSE(watched.expired()) << "the tensor keeps what it uses";
    expect_band(B);
    // Other values go into memory of its own, on every rank.
    std::vector<double> before(watched.lock()->values), zeros(before.size(), 0);
    B.set_values(zeros);
    EXPECT_EQ(watched.lock()->values, before);
    EXPECT_EQ(B.at({1, 1}), 0);
  }
  EXPECT_TRUE(watched.expired());
}

TEST(WaysIn, AViewOfRowsThatBelongElsewhereCopiesThemOnceAndSendsThem) {
  // Each rank brings the rows of the next one.
  int ranks = world().size();
  Band mine(block(Band::n, ranks, (world().rank() + 1) % ranks));
  if (ranks == 1) GTEST_SKIP() << "all rows belong to the one rank";
  Tensor<double> B = expect_cost(mine.bytes() + mine.bytes() / 10, mine.bytes(), [&] {
    return Tensor<double>::view_csr_local({Band::n, Band::n}, mine.first, mine.pos, mine.crd, mine.values);
  });
  EXPECT_NE(B.values().data(), mine.values.data());
  expect_band(B);
}

// Who lends arrays keeps them as long as there is a tensor over them, not as long as there are results that store the same.
TEST(WaysIn, ResultsStayWhenArraysThatWereLentAreGone) {
  IndexVar i, j, f, fp, fo, fi;
  for (bool by_nonzeros : {false, true}) {
    Band mine = Band::mine();
    Tensor<double> A({Band::n, Band::n}, CSR), c({Band::n}, {Dense});
    c.fill(1.0);
    {
      auto B = Tensor<double>::view_csr_local({Band::n, Band::n}, mine.first, mine.pos, mine.crd, mine.values);
      A(i, j) = B(i, j) * c(j);
      if (by_nonzeros) A.schedule().fuse(i, j, f).pos(f, fp, B(i, j)).divide(fp, fo, fi, 7).distribute(fo);
      A.compute();
    }
    std::ranges::fill(mine.crd, 0);
    std::ranges::fill(mine.pos, 0);
    expect_band(A);
  }
}

TEST(WaysIn, RanksWithoutRowsTakePartInAView) {
  // One rank has all three rows.
  bool all = world().rank() == 0;
  std::vector<int32_t> pos = all ? std::vector<int32_t>{0, 1, 2, 3} : std::vector<int32_t>{0}, crd;
  if (all) crd = {2, 1, 0};
  std::vector<double> values(crd.size(), 2.0);
  auto B = Tensor<double>::view_csr_local({3, 3}, 0, pos, crd, values);
  EXPECT_EQ(B.nnz(), 3);
  EXPECT_EQ(B.at({0, 2}), 2);
  // As many rows as ranks but one: the last piece is empty.
  int64_t n = std::max(1, world().size() - 1), first = std::min<int64_t>(n, world().rank());
  Range rows{first, std::min(n, first + 1)};
  std::vector<int64_t> begins{0}, columns(size_t(rows.size()), 0);
  if (rows.size() == 1) begins.push_back(1);
  std::vector<double> fives(columns.size(), 5.0);
  auto C = Tensor<double>::view_csr_local({n, 1}, first, begins, columns, fives);
  EXPECT_EQ(C.nnz(), n);
  IndexVar i, j;
  C(i, j) = 2.0 * C(i, j);
  EXPECT_EQ(C.at({n - 1, 0}), 10);
  EXPECT_EQ(fives, std::vector<double>(fives.size(), 5.0));
}

TEST(WaysIn, AViewOfAWholeMatrixIsUsedInPlaceByOneRankAndCutOnceByMore) {
  Band all({0, Band::n});
  int64_t share = world().size() == 1 ? 0 : Band::mine().bytes() * 11 / 10;
  Tensor<double> B = expect_cost(share, 0, [&] {
    return Tensor<double>::view_csr({Band::n, Band::n}, all.pos, all.crd, all.values);
  });
  EXPECT_EQ(B.values().data() == all.values.data(), world().size() == 1);
  expect_band(B);
}

TEST(WaysIn, CopiesOfRowsWhereTheyBelongAreMadeOnce) {
  Band mine = Band::mine();
  auto way_in = [&] {
    return Tensor<double>::from_csr_local({Band::n, Band::n}, mine.first, mine.pos, mine.crd, mine.values, CSR);
  };
  Tensor<double> B = expect_cost(mine.bytes() + mine.bytes() / 10, 0, way_in);
  expect_needs(mine.bytes(), way_in);
  EXPECT_NE(B.values().data(), mine.values.data());
  expect_band(B);
}

TEST(WaysIn, AdoptedVectorsAreTakenOver) {
  Band all({0, Band::n});
  const double* first = all.values.data();
  int64_t share = world().size() == 1 ? 0 : Band::mine().bytes() * 11 / 10;
  Tensor<double> B = expect_cost(share, 0, [&] {
    return Tensor<double>::adopt_csr({Band::n, Band::n}, std::move(all.pos), std::move(all.crd), std::move(all.values));
  });
  EXPECT_EQ(B.values().data() == first, world().size() == 1);
  expect_band(B);
}

TEST(WaysIn, ArraysGoInAndOutByRowsAndByColumns) {
  constexpr int64_t rows = 3, columns = 5, layers = 2;
  std::vector<double> c_order(rows * columns * layers), f_order(c_order.size()), out(c_order.size());
  for (int64_t r = 0; r < rows; r++)
    for (int64_t c = 0; c < columns; c++)
      for (int64_t l = 0; l < layers; l++)
        c_order[size_t((r * columns + c) * layers + l)] = f_order[size_t(r + rows * (c + columns * l))] =
            r + c + l == 0 ? -0.0 : double(100 * r + 10 * c + l);
  using Way = Tensor<double> (*)(const std::vector<double>&, ArrayOrder);
  DistVar x, y, z;
  static const Format cut({Dense, Dense, Dense}, Distribution({x, y, z}, Machine{Grid(2)}, {y}));
  const std::vector<Way> ways{[](const std::vector<double>& a, ArrayOrder o) {
                                return Tensor<double>::from_dense({rows, columns, layers}, a, o);
                              },
                              [](const std::vector<double>& a, ArrayOrder o) {
                                return Tensor<double>::from_dense({rows, columns, layers}, a, o, cut);
                              },
                              [](const std::vector<double>& a, ArrayOrder o) {
                                return Tensor<double>::view_dense({rows, columns, layers}, a, o);
                              },
                              [](const std::vector<double>& a, ArrayOrder o) {
                                return Tensor<double>::adopt_dense({rows, columns, layers}, a, o);
                              }};
  for (const Way& way : ways)
    for (ArrayOrder order : {ArrayOrder::RowMajor, ArrayOrder::ColumnMajor}) {
      Tensor<double> A = way(order == ArrayOrder::RowMajor ? c_order : f_order, order);
      EXPECT_EQ(A.at({2, 3, 1}), 231);
      A.to_dense(out, ArrayOrder::ColumnMajor);
      EXPECT_EQ(out, f_order);
      EXPECT_TRUE(std::signbit(out[0])) << "every bit arrives";
      A.to_dense(out);
      EXPECT_EQ(out, c_order);
    }
  // Of any type and any format.
  auto B = Tensor<bool>::from_coo({2, 3}, {{0, 1}, {2, 0}}, {true, true}, CSR);
  std::array<bool, 6> all{};
  B.to_dense(all);
  EXPECT_EQ(all, (std::array<bool, 6>{false, false, true, true, false, false}));
  auto C = Tensor<float>::from_coo({1, 3}, {{0}, {1}}, {0.5f}, CSF(2));
  std::array<float, 3> floats{7, 7, 7};
  C.to_dense(floats);
  EXPECT_EQ(floats, (std::array<float, 3>{0, 0.5f, 0}));
  EXPECT_THROW(C.to_dense(std::span(floats).first(2)), UserError);
  EXPECT_THROW(Tensor<double>::from_dense({2, 2}, c_order), UserError);
  EXPECT_THROW(Tensor<double>::from_dense({3, 10}, c_order, ArrayOrder::RowMajor, CSR), UserError);
}

TEST(WaysOut, ElementsOfARankAreFoundWithoutAnAllocationEach) {
  Band mine = Band::mine();
  auto B = Tensor<double>::view_csr_local({Band::n, Band::n}, mine.first, mine.pos, mine.crd, mine.values);
  int64_t before = runtime::testkit::allocations(), seen = 0;
  bool right = true;
  for (auto [at, value] : B.local()) {
    right &= value == double(at[0] + 2 * at[1]);
    seen++;
  }
  EXPECT_LE(runtime::testkit::allocations() - before, 20);
  EXPECT_TRUE(right);
  EXPECT_EQ(seen, int64_t(mine.values.size()));
  EXPECT_EQ(B.local().size(), mine.values.size());
}

TEST(WaysOut, ElementsOfAnyFormatAreTheSameByTurns) {
  for (const char* format : {"dd", "ds", "ss", "uq", "db", "dr", "ds:1,0", "dd:1,0"}) {
    SCOPED_TRACE(format);
    auto B =
        Tensor<double>::from_coo({4, 6}, {{0, 0, 2, 3, 3}, {1, 4, 0, 2, 3}}, {1, 2, 3, 4, 5}, Format::parse(format));
    double sum = 0;
    for (auto [at, value] : B.local()) sum += value * double(10 * at[0] + at[1]);
    EXPECT_EQ(world().allreduce(sum, runtime::ReduceOp::Sum), 1 * 1 + 2 * 4 + 3 * 20 + 4 * 32 + 5 * 33);
  }
  Tensor<double> scalar("s");
  scalar() = 7.0;
  scalar.compute();
  EXPECT_EQ(world().allreduce(int64_t(scalar.local().size()), runtime::ReduceOp::Sum), 1);
}

}  // namespace
}  // namespace spdistal
