// What it costs to begin: bringing a matrix in, and the first run of a statement, in units of one SpMV on the same matrix
// and ranks (after the first, with a vector that changes each time). Kernels are compiled beforehand, on smaller matrices of the
// same kind, and what is compiled all the same is not counted. Three matrices are brought in, one after the other: minima.
//
//   mpirun -n 4 bench_setup [scale [banded | uniform | rmat]]
//
// Pages that a virtual machine gets from its host for the first time come at 0.3 GB/s, and would be most of what is measured:
// as much memory as will be used is touched before, on all ranks at once, and given back.
// Memory that a process had once stays with it: the peak is that of the first matrix.
#include <sys/mman.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>

#include "api/session.hpp"
#include "base/blocks.hpp"
#include "leaf/inputs.hpp"
#include "runtime/measure.hpp"
#include "spdistal/spdistal.hpp"

using namespace spdistal;

namespace {

runtime::Transport& world() { return Session::instance().transport(); }

// The time that the slowest rank takes.
template <class F>
double slowest(F&& f) {
  world().barrier();
  return world().allreduce(benchmarks::seconds(f), runtime::ReduceOp::Max);
}

double memory_bytes(const char* what) {
  std::ifstream in("/proc/self/status");
  for (std::string line; std::getline(in, line);)
    if (line.starts_with(what)) return std::strtod(line.c_str() + std::strlen(what), nullptr) * 1024;
  return 0;
}
void forget_peak() { std::ofstream("/proc/self/clear_refs") << "5"; }

struct LocalRows {
  int64_t n, first;
  std::vector<int64_t> pos;
  std::vector<int32_t> crd;
  std::vector<double> values;

  double bytes() const { return double(pos.size()) * 4 + double(crd.size()) * 12; }
};

// The rows of a block, their columns in order, each once.
LocalRows rows_of(const Coordinates& entries, int64_t part) {
  LocalRows out{entries.dims()[0], 0, {0}, {}, {}};
  Range mine = block(out.n, world().size(), part);
  out.first = mine.lo;
  std::vector<std::vector<int32_t>> rows(size_t(mine.size()));
  for (int64_t e = 0; e < entries.size(); e++)
    if (int64_t row = entries.column(0)[size_t(e)]; mine.contains(row))
      rows[size_t(row - mine.lo)].push_back(int32_t(entries.column(1)[size_t(e)]));
  for (std::vector<int32_t>& row : rows) {
    std::sort(row.begin(), row.end());
    row.erase(std::unique(row.begin(), row.end()), row.end());
    out.crd.insert(out.crd.end(), row.begin(), row.end());
    out.pos.push_back(int64_t(out.crd.size()));
  }
  out.values.assign(out.crd.size(), 0.5);
  return out;
}

Tensor<double> bring(const LocalRows& rows) {
  return Tensor<double>::from_csr_local({rows.n, rows.n}, rows.first, std::span(rows.pos), std::span(rows.crd),
                                        std::span<const double>(rows.values), CSR);
}

constexpr int64_t columns = 32;  // of the dense matrices

// Touches so many bytes, while the other ranks do, and gives them back to the system.
void touch_memory(size_t bytes) {
  void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  for (size_t at = 0; memory != MAP_FAILED && at < bytes; at += 4096) static_cast<volatile char*>(memory)[at] = 1;
  world().barrier();
  if (memory != MAP_FAILED) munmap(memory, bytes);
}

// What the statements below take on this rank: three matrices in rows, rows of three dense ones, and what is needed of two of these
// from other ranks, with the messages that it comes in.
size_t bytes_used(const Coordinates& entries) {
  LocalRows own = rows_of(entries, world().rank());
  Range mine = block(own.n, world().size(), world().rank());
  std::vector<char> occurs(size_t(own.n), 0);
  for (int32_t column : own.crd) occurs[size_t(column)] = !mine.contains(column);
  auto ghosts = std::count(occurs.begin(), occurs.end(), 1);
  return size_t(3 * own.bytes()) + size_t(3 * mine.size() + 4 * ghosts) * columns * sizeof(double);
}

struct Costs {
  double spmv, placed, moved, peak;
  struct Run {
    double first, again;
  };
  std::vector<Run> runs;  // SpMV, SpMM, SDDMM
};

// A statement for the first time, and again.
template <class Say>
Costs::Run first_and_again(Tensor<double>& result, Tensor<double>& changing, Say&& say) {
  Costs::Run out{};
  out.first = slowest([&] {
    say();
    result.compute();
  });
  out.first -= result.report().compile_seconds;
  out.again = out.first;
  for (int run = 0; run < 15; run++) {
    changing.changed();
    out.again = std::min(out.again, slowest([&] { result.compute(); }));
  }
  return out;
}

Costs measure_once(const Coordinates& entries) {
  int ranks = world().size(), rank = world().rank();
  LocalRows own = rows_of(entries, rank), other = rows_of(entries, (rank + 1) % ranks);
  IndexVar i, j, k;
  Costs out{};
  double before = memory_bytes("VmRSS:");
  forget_peak();
  std::optional<Tensor<double>> B;
  out.placed = slowest([&] { B.emplace(bring(own)); });
  out.peak = world().allreduce((memory_bytes("VmHWM:") - before) / own.bytes(), runtime::ReduceOp::Max);
  out.moved = slowest([&] { bring(other); });

  Tensor<double> a({own.n}, {Dense}), c({own.n}, {Dense});
  c.fill(1.0);
  out.runs.push_back(first_and_again(a, c, [&] { a(i) = (*B)(i, j) * c(j); }));
  out.spmv = out.runs[0].again;

  Tensor<double> A({own.n, columns}, {Dense, Dense}), C({own.n, columns}, {Dense, Dense}),
      D({columns, own.n}, Format({Dense, Dense}, {1, 0})), S({own.n, own.n}, CSR);
  C.fill(1.0);
  D.fill(1.0);
  out.runs.push_back(first_and_again(A, C, [&] { A(i, k) = (*B)(i, j) * C(j, k); }));
  out.runs.push_back(first_and_again(S, C, [&] { S(i, j) = (*B)(i, j) * C(i, k) * D(k, j); }));
  return out;
}

Costs measure(const Coordinates& entries) {
  touch_memory(bytes_used(entries));
  Costs out = measure_once(entries);
  for (int round = 1; round < 3; round++) {
    Costs next = measure_once(entries);
    for (double Costs::*cost : {&Costs::spmv, &Costs::placed, &Costs::moved})
      out.*cost = std::min(out.*cost, next.*cost);
    for (size_t k = 0; k < out.runs.size(); k++)
      out.runs[k] = {std::min(out.runs[k].first, next.runs[k].first), std::min(out.runs[k].again, next.runs[k].again)};
  }
  return out;
}

}  // namespace

int main(int argc, char** argv) {
  double scale = argc > 1 ? std::strtod(argv[1], nullptr) : 1;
  auto n = int64_t(1e6 * scale);
  int levels = 17;
  while ((int64_t(2) << levels) * 5 < n) levels++;
  bool speaks = world().rank() == 0;
  if (speaks)
    std::printf(
        "%d ranks; in units of one SpMV, first run and later ones; peak memory in units of what a rank keeps\n"
        "%-14s %9s %8s %8s %6s %18s %18s %18s\n",
        world().size(), "matrix", "SpMV ms", "placed", "moved", "peak", "SpMV", "SpMM", "SDDMM");
  auto show = [&](const char* name, const Coordinates& small, const Coordinates& entries) {
    measure_once(small);
    Costs costs = measure(entries);
    if (!speaks) return;
    std::printf("%-14s %9.3f %8.1f %8.1f %6.2f", name, costs.spmv * 1e3, costs.placed / costs.spmv,
                costs.moved / costs.spmv, costs.peak);
    for (const Costs::Run& run : costs.runs)
      std::printf(" %9.1f %8.1f", run.first / costs.spmv, run.again / costs.spmv);
    std::printf("\n");
    std::fflush(stdout);
  };
  std::string_view only = argc > 2 ? argv[2] : "";
  if (only.empty() || only == "banded") show("banded x 11", inputs::banded(n / 64, 11), inputs::banded(n, 11));
  if (only.empty() || only == "uniform") show("uniform x 10", inputs::uniform(n / 64, 10), inputs::uniform(n, 10));
  if (only.empty() || only == "rmat") show("R-MAT x 16", inputs::rmat(levels - 6, 16), inputs::rmat(levels, 16));
}
