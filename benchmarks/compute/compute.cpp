// What compute() costs beyond leaf and exchange once everything is in place: SpMV of a matrix so small that its kernel
// takes next to no time, in one process, with one piece, over pieces of a machine, and said anew each time.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <spdistal/spdistal.hpp>
#include <vector>

using namespace spdistal;

namespace {

// The median of some runs of many calls each, in microseconds per call.
template <class F>
double microseconds(F&& call) {
  constexpr int calls = 2000, runs = 9;
  std::vector<double> times;
  for (int run = 0; run < runs; run++) {
    auto start = std::chrono::steady_clock::now();
    for (int k = 0; k < calls; k++) call();
    times.push_back(std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - start).count() /
                    calls);
  }
  std::sort(times.begin(), times.end());
  return times[runs / 2];
}

struct SpMV {
  static constexpr int64_t n = 16;
  Machine M;
  DistVar x, y;
  Tensor<double> a, B, c;
  IndexVar i, j;

  explicit SpMV(int64_t pieces)
      : M(Grid(pieces)),
        a("a", {n}, Format({Dense}, Distribution({x}, M, {x}))),
        B("B", {n, n}, Format({Dense, Compressed}, Distribution({x, y}, M, {x}))),
        c("c", {n}, Format({Dense}, Distribution({x}, M, {x}))) {
    for (int64_t row = 0; row < n; row++) B.insert({row, (row * 7) % n}, 1.0);
    B.pack();
    c.fill(1.0);
  }
};

}  // namespace

int main() {
  fmt::print("{:<44} {:>10}\n", "SpMV of 16 rows, 16 non-zeros", "us / call");
  for (int64_t pieces : {1, 4, 16}) {
    SpMV s(pieces);
    s.a(s.i) = s.B(s.i, s.j) * s.c(s.j);
    s.a.compute();
    fmt::print("{:<44} {:>10.2f}\n", fmt::format("compute(), {} piece{}", pieces, pieces == 1 ? "" : "s"),
               microseconds([&] { s.a.compute(); }));
  }
  SpMV s(1);
  auto say = [&] {
    s.a(s.i) = s.B(s.i, s.j) * s.c(s.j);
    s.a.compute();
  };
  say();
  fmt::print("{:<44} {:>10.2f}\n", "the statement said anew, and compute()", microseconds(say));
  return 0;
}
