// Packing a distributed matrix from entries that are anywhere: time, and the most memory that a rank needs beyond what it
// brings, against the bytes of the pieces it keeps.
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <random>
#include <string>

#include "measure.hpp"
#include "runtime/transport/mpi.hpp"
#include "runtime/transport/start.hpp"
#include "tensor/distribute.hpp"

using namespace spdistal;
using namespace spdistal::runtime;
using namespace spdistal::benchmarks;

namespace {

// In MiB: the memory of this process now, and the most it had since `forget_peak`.
double memory(const char* what) {
  std::ifstream in("/proc/self/status");
  for (std::string line; std::getline(in, line);)
    if (line.starts_with(what)) return std::strtod(line.c_str() + std::strlen(what), nullptr) / 1024;
  return 0;
}
void forget_peak() { std::ofstream("/proc/self/clear_refs") << "5"; }

Coordinates random_entries(int rank, int64_t count, int64_t rows, int64_t columns) {
  Coordinates out({rows, columns}, ScalarType::Float64);
  out.resize(count);
  std::mt19937_64 random(uint64_t(rank) + 1);
  for (int64_t e = 0; e < count; e++) {
    out.column(0)[size_t(e)] = int64_t(random() % uint64_t(rows));
    out.column(1)[size_t(e)] = int64_t(random() % uint64_t(columns));
    out.values<double>()[size_t(e)] = 1;
  }
  return out;
}

Shares blocks(int64_t rows, int64_t columns, int64_t colours, bool of_positions) {
  Shares out{ColourGrid({colours}), {}};
  for (int64_t c = 0; c < colours; c++) {
    Share& share = out.of.emplace_back(whole_share({rows, columns}));
    Range mine = block(rows, colours, c);
    if (of_positions) share.positions.push_back({1, NestedParts{{{c, colours}}}});
    else share.coordinates[0] = Space::interval(mine.lo, mine.hi);
  }
  return out;
}

void measure(Transport& t, const char* name, bool of_positions) {
  int64_t count = 4'000'000 / t.size(), rows = 1'000'000, columns = 1'000'000;
  Coordinates mine = random_entries(t.rank(), count, rows, columns);
  double brought = double(count) * 24 / (1 << 20), before = memory("VmRSS:");
  forget_peak();
  t.barrier();
  std::optional<Home> home;
  double time = seconds([&] {
    home.emplace(pack(t, std::move(mine), CSR, blocks(rows, columns, t.size(), of_positions)));
    t.barrier();
  });
  double peak = memory("VmHWM:") - before, kept = double(home->piece(t.rank()).bytes()) / (1 << 20);
  for (int r = 0; r < t.size(); r++) {
    if (r == t.rank()) {
      std::printf("%-22s rank %d of %d   brings %6.1f MiB   keeps %6.1f MiB   peak beyond %6.1f MiB   %5.2f M/s\n",
                  name, r, t.size(), brought, kept, peak, double(count) * t.size() / time / 1e6);
      std::fflush(stdout);
    }
    t.barrier();
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (!started_by_launcher([](const char* name) -> const char* { return std::getenv(name); })) {
    std::string run = std::string("mpirun --oversubscribe --allow-run-as-root -n 2 '") + argv[0] + "'";
    return std::system((run + " && " + run + " positions").c_str()) == 0 ? 0 : 1;
  }
  auto transport = start_mpi();
  // Each in a fresh process, or the memory that one left would serve the other.
  bool of_positions = argc > 1;
  measure(*transport, of_positions ? "by non-zeros" : "by rows", of_positions);
  return 0;
}
