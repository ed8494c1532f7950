// spdistal as a part of programs that run MPI by themselves (spdistal/mpi.hpp).
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>

#include "api/session.hpp"
#include "base/threads.hpp"
#include "spdistal/mpi.hpp"
#include "spdistal/spdistal.hpp"

namespace spdistal {
namespace {

// Half of the ranks each; MPI is running.
class Halves {
 public:
  Halves() {
    int world = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &world);
    MPI_Comm_split(MPI_COMM_WORLD, world % 2, world, &half_);
  }
  ~Halves() { MPI_Comm_free(&half_); }
  MPI_Comm operator*() const { return half_; }
  int rank() const {
    int out = 0;
    MPI_Comm_rank(half_, &out);
    return out;
  }
  int size() const {
    int out = 0;
    MPI_Comm_size(half_, &out);
    return out;
  }

 private:
  MPI_Comm half_ = MPI_COMM_NULL;
};

// 3 on the diagonal, -1 beside it, times 0, 1, 2, …
void compute_something(int64_t n) {
  Tensor<double> a({n}, {Dense}), B({n, n}, CSR), c({n}, {Dense});
  for (int64_t row = 0; row < n; row++)
    for (int64_t column = std::max<int64_t>(0, row - 1); column < std::min(n, row + 2); column++)
      B.insert({row, column}, row == column ? 3 : -1);
  B.pack();
  c.fill([](std::span<const int64_t> at) { return double(at[0]); });
  IndexVar i, j;
  a(i) = B(i, j) * c(j);
  std::vector<Element<double>> all = a.gather();
  ASSERT_EQ(int64_t(all.size()), n);
  for (int64_t row = 0; row < n; row++)
    EXPECT_EQ(all[size_t(row)].value, row == 0 ? -1 : row == n - 1 ? 2 * n - 1 : row);
  for (const auto& [at, value] : a.local()) EXPECT_EQ(value, all[size_t(at[0])].value);
}

TEST(Embedding, RunsOnTheRanksOfACommunicator) {
  Halves half;
  Runtime runtime(*half);
  EXPECT_EQ(runtime.rank(), half.rank());
  EXPECT_EQ(runtime.ranks(), half.size());
  EXPECT_EQ(rank(), half.rank());
  EXPECT_EQ(ranks(), half.size());
  compute_something(10);
}

TEST(Embedding, TakesAnotherCommunicatorAfterTheFirst) {
  int world = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &world);
  {
    Runtime runtime(MPI_COMM_SELF);
    EXPECT_EQ(ranks(), 1);
    compute_something(7);
  }
  Runtime runtime(MPI_COMM_WORLD);
  EXPECT_EQ(ranks(), world);
  compute_something(7);
}

TEST(Embedding, RefusesASecondRuntimeWhileOneLives) {
  Runtime runtime(MPI_COMM_WORLD);
  EXPECT_THROW(Runtime second(MPI_COMM_WORLD), UserError);
  compute_something(5);
}

TEST(Embedding, LocalElementsOfAllRanksAreEachThereOnce) {
  Runtime runtime(MPI_COMM_WORLD);
  Tensor<double> everywhere({6}, Format({Dense}, [] {
                              DistVar x, y;
                              return Distribution({x}, Machine(Grid(ranks())), {y});
                            }()));
  Tensor<double> blocks({6}, {Dense});
  for (Tensor<double>* tensor : {&everywhere, &blocks}) {
    tensor->fill(1);
    long mine = long(tensor->local().size()), all = 0;
    MPI_Allreduce(&mine, &all, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    EXPECT_EQ(all, 6);
    EXPECT_EQ(tensor->gather().size(), 6u);
  }
}

TEST(Embedding, RanksOfANodeShareItsProcessors) {
  if (std::getenv("OMP_NUM_THREADS") || std::getenv("SPDISTAL_THREADS"))
    GTEST_SKIP() << "the environment says how many threads to use";
  Runtime runtime(MPI_COMM_WORLD);
  long mine = long(Session::instance().context.threads), all = 0, processors = sysconf(_SC_NPROCESSORS_ONLN);
  EXPECT_GE(mine, 1);
  MPI_Allreduce(&mine, &all, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
  EXPECT_LE(all, std::max<long>(processors, ranks()));
  EXPECT_EQ(loop_threads(), mine) << "packing and planning share them as kernels do";
}

}  // namespace
}  // namespace spdistal
