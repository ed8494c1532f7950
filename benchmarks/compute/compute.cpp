// What compute() costs beyond its kernel once everything is in place: SpMV of matrices so small that the kernel takes next to no
// time, beside the same loop by hand, on one thread and on as many as there are cores. Calls are timed one by one, in turns: a mean over many
// would hide those that take long.
#include <fmt/format.h>
#include <omp.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <spdistal/spdistal.hpp>
#include <vector>

#include "hand/hand.hpp"

using namespace spdistal;

namespace {

// Of single calls, in microseconds.
struct Times {
  std::vector<double> all{};

  template <class F>
  void time(F&& call) {
    auto start = std::chrono::steady_clock::now();
    call();
    all.push_back(std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - start).count());
  }
  double at(double part) {
    std::sort(all.begin(), all.end());
    return all[size_t(part * double(all.size() - 1))];
  }
};

// Many, unless the machine is so busy that threads wait for each other.
template <class F>
void repeat(F&& call) {
  auto begin = std::chrono::steady_clock::now();
  for (int k = 0; k < 20000; k++) {
    call();
    if (k >= 100 && std::chrono::steady_clock::now() - begin > std::chrono::seconds(2)) break;
  }
}

// A band of 11 over pieces of a machine.
struct SpMV {
  Machine M;
  DistVar x, y;
  Tensor<double> a, B, c;
  IndexVar i, j;

  SpMV(int64_t n, int64_t pieces)
      : M(Grid(pieces)),
        a("a", {n}, Format({Dense}, Distribution({x}, M, {x}))),
        B("B", {n, n}, Format({Dense, Compressed}, Distribution({x, y}, M, {x}))),
        c("c", {n}, Format({Dense}, Distribution({x}, M, {x}))) {
    for (int64_t row = 0; row < n; row++)
      for (int64_t column = std::max<int64_t>(0, row - 5); column <= std::min(n - 1, row + 5); column++)
        B.insert({row, column}, double(row % 7 + 1));
    B.pack();
    c.fill([](std::span<const int64_t> at) { return double(at[0] % 5 + 1); });
  }
};

// The same by hand.
struct Loop {
  std::vector<int32_t> pos{0}, crd;
  std::vector<double> values, c;
  hand::Made a;

  explicit Loop(int64_t n) {
    for (int64_t row = 0; row < n; row++) {
      for (int64_t column = std::max<int64_t>(0, row - 5); column <= std::min(n - 1, row + 5); column++)
        crd.push_back(int32_t(column)), values.push_back(double(row % 7 + 1));
      pos.push_back(int32_t(crd.size()));
      c.push_back(double(row % 5 + 1));
    }
  }
  void run() { hand::spmv({int64_t(c.size()), int64_t(c.size()), pos.data(), crd.data(), values.data()}, c.data(), a); }
};

void show(const std::string& what, Times& ours, Times& loop) {
  fmt::print("{:<46} {:>8.2f} {:>8.2f} {:>8.2f} {:>8.2f} {:>8.2f}\n", what, ours.at(0.5), ours.at(0.95), loop.at(0.5),
             loop.at(0.95), ours.at(0.5) - loop.at(0.5));
}

bool measure(int threads) {
  omp_set_num_threads(threads);
  for (int64_t n : {int64_t(16), int64_t(1000)})
    for (int64_t pieces : {1, 4, 16}) {
      SpMV s(n, pieces);
      Loop loop(n);
      s.a(s.i) = s.B(s.i, s.j) * s.c(s.j);
      for (int k = 0; k < 100; k++) s.a.compute(), loop.run();
      for (int64_t i = 0; i < n; i++)
        if (s.a.at({i}) != loop.a.vals[i]) {
          fmt::print("element {} is {}, by hand {}\n", i, s.a.at({i}), loop.a.vals[i]);
          return false;
        }
      Times ours, hand;
      repeat([&] {
        ours.time([&] { s.a.compute(); });
        hand.time([&] { loop.run(); });
      });
      show(fmt::format("{} rows, {} thread{}, {} piece{}", n, threads, threads == 1 ? "" : "s", pieces,
                       pieces == 1 ? "" : "s"),
           ours, hand);
      if (pieces > 1) continue;
      Times said;
      repeat([&] {
        said.time([&] {
          s.a(s.i) = s.B(s.i, s.j) * s.c(s.j);
          s.a.compute();
        });
      });
      show("  the statement said anew each time", said, hand);
    }
  return true;
}

}  // namespace

// Threads are counted once in a process: one for each number of them.
int main() {
  fmt::print("{:<46} {:>8} {:>8} {:>8} {:>8} {:>8}\n", "SpMV, us a call", "median", "95 %", "by hand", "95 %", "more");
  std::fflush(stdout);
  std::vector<int> counts{1};
  if (int cores = int(sysconf(_SC_NPROCESSORS_ONLN)); cores > 1) counts.push_back(cores);
  bool right = true;
  for (int threads : counts) {
    if (pid_t child = fork(); child == 0) {
      setenv("SPDISTAL_THREADS", std::to_string(threads).c_str(), 1);
      bool same = measure(threads);
      std::fflush(stdout);
      _exit(same ? 0 : 1);
    } else {
      int status = 0;
      waitpid(child, &status, 0);
      right &= WIFEXITED(status) && WEXITSTATUS(status) == 0;
    }
  }
  return right ? 0 : 1;
}
