// Steady-state exchange of the ghost entries of SpMV on two ranks, against MPI_Isend and MPI_Irecv written by hand with
// index lists made beforehand. Results are compared before they are timed.
#include <mpi.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <optional>
#include <random>
#include <set>

#include "base/blocks.hpp"
#include "measure.hpp"
#include "runtime/partition/match.hpp"
#include "runtime/region/exchange.hpp"
#include "runtime/region/region.hpp"
#include "runtime/transport/mpi.hpp"
#include "runtime/transport/start.hpp"

using namespace spdistal;
using namespace spdistal::runtime;
using namespace spdistal::benchmarks;

namespace {

/// What one would write: the places to send from in a list, ghosts received where they are read.
struct ByHand {
  int peer;
  std::vector<int32_t> places;
  std::vector<double> packed;
  int64_t ghosts;

  void run(const double* owned, double* tail) {
    MPI_Request requests[2];
    MPI_Irecv(tail, int(ghosts), MPI_DOUBLE, peer, 0, MPI_COMM_WORLD, &requests[0]);
    for (size_t k = 0; k < places.size(); k++) packed[k] = owned[places[k]];
    MPI_Isend(packed.data(), int(packed.size()), MPI_DOUBLE, peer, 0, MPI_COMM_WORLD, &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  }
};

Space random_columns(uint64_t seed, Range among, int64_t count) {
  std::mt19937_64 random(seed);
  std::uniform_int_distribution<int64_t> pick(among.lo, among.hi - 1);
  std::set<int64_t> chosen;
  while (int64_t(chosen.size()) < count) chosen.insert(pick(random));
  std::vector<int64_t> sorted(chosen.begin(), chosen.end());
  return Space::from_sorted(std::span<const int64_t>(sorted));
}

void compare(Transport& t, const char* name, int64_t n, const std::vector<Space>& ghosts, int repeat) {
  ColourGrid grid({2});
  Range half = block(n, 2, 0);
  Partition rows(grid, Space::interval(0, n), {Space::interval(0, half.hi), Space::interval(half.hi, n)});
  Region x(t, "x", ScalarType::Float64, rows);
  int me = t.rank(), peer = 1 - me;
  // What is owned stays where it is; ghosts come into memory of their own.
  Partition come(grid, rows.universe(), std::vector<Space>(ghosts));
  Instances tails(Range{me, me + 1});
  tails.add(Instance(ScalarType::Float64, Layout::compact(ghosts[size_t(me)])));
  Mapping ranks(2, 2);
  std::optional<Exchange> planned;
  double planning = seconds([&] {
    planned.emplace(t, match(t, x.held(), come.restricted(Range{me, me + 1}), Sources::AnyLocal), ranks, ranks,
                    x.instances(), tails, ExchangeOptions{});
  });
  Range own{rows[me].bounding()[0]};
  for (int64_t i = own.lo; i < own.hi; i++) x[me].at<double>(i) = double(i) + 0.5;

  ByHand by_hand{peer, {}, {}, ghosts[size_t(me)].size()};
  for_each_point(ghosts[size_t(peer)],
                 [&](std::span<const int64_t> at) { by_hand.places.push_back(int32_t(at[0] - own.lo)); });
  by_hand.packed.resize(by_hand.places.size());
  std::vector<double> tail(size_t(by_hand.ghosts));

  auto ours = [&] { planned->run(); };
  auto theirs = [&] { by_hand.run(x[me].values<double>().data(), tail.data()); };
  ours();
  theirs();
  size_t k = 0;
  for_each_point(ghosts[size_t(me)], [&](std::span<const int64_t> at) {
    if (tails[me].at<double>(at) != double(at[0]) + 0.5 || tail[k++] != double(at[0]) + 0.5) std::abort();
  });

  std::vector<double> our_times, their_times;
  for (int round = 0; round < 60; round++) {
    auto timed = [&](auto&& f, std::vector<double>& times) {
      t.barrier();
      times.push_back(seconds([&] {
                        for (int r = 0; r < repeat; r++) f();
                      }) /
                      repeat);
    };
    timed(ours, our_times);
    timed(theirs, their_times);
  }
  double a = t.allreduce(median(our_times), ReduceOp::Max), b = t.allreduce(median(their_times), ReduceOp::Max);
  if (t.rank() == 0)
    std::printf("%-16s %7lld ghosts   planned in %7.2f ms   ours %9.2f us   by hand %9.2f us   ratio %.2f\n", name,
                static_cast<long long>(by_hand.ghosts), planning * 1e3, a * 1e6, b * 1e6, b / a);
}

}  // namespace

int main(int, char** argv) {
  if (!started_by_launcher([](const char* name) { return std::getenv(name); })) {
    execlp("mpirun", "mpirun", "--oversubscribe", "--allow-run-as-root", "-n", "2", argv[0], nullptr);
    std::perror("mpirun");
    return 1;
  }
  auto transport = start_mpi();
  if (transport->size() != 2) {
    std::fprintf(stderr, "this benchmark is for two ranks\n");
    return 2;
  }
  int64_t n = 4'000'000;
  Range lower{0, n / 2}, upper{n / 2, n};
  auto scattered = [&](int64_t count) {
    return std::vector{random_columns(1, upper, count), random_columns(2, lower, count)};
  };
  compare(*transport, "scattered, few", n, scattered(100), 400);
  compare(*transport, "scattered", n, scattered(10'000), 100);
  compare(*transport, "scattered, many", n, scattered(300'000), 5);
  // A band: the ghosts of each side are one interval at the border.
  std::vector<Space> band{Space::interval(n / 2, n / 2 + 50'000), Space::interval(n / 2 - 50'000, n / 2)};
  compare(*transport, "band", n, band, 50);
  return 0;
}
