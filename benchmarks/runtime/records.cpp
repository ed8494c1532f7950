// Sorting triples on one rank, duplicates added, against std::sort of the same triples; in millions of records per second.
#include <cstdio>
#include <cstdlib>
#include <random>

#include "measure.hpp"
#include "runtime/records/sort_globally.hpp"
#include "runtime/transport/threads.hpp"

using namespace spdistal;
using namespace spdistal::runtime;
using namespace spdistal::benchmarks;

namespace {

struct Triple {
  int64_t row, column;
  double value;
};

void compare(const char* name, int64_t count, int64_t rows, int64_t columns) {
  std::mt19937_64 random(5);
  std::vector<Triple> triples(static_cast<size_t>(count));
  for (Triple& triple : triples)
    triple = {int64_t(random() % uint64_t(rows)), int64_t(random() % uint64_t(columns)), 1.0};
  auto transport = loopback();
  std::vector<int> modes{0, 1};
  std::vector<double> our_times, their_times;
  for (int round = 0; round < 5; round++) {
    Records records(2, ScalarType::Float64);
    records.reserve(count);
    for (const Triple& triple : triples) {
      int64_t at[] = {triple.row, triple.column};
      records.add(at, triple.value);
    }
    our_times.push_back(
        seconds([&] { records = sort_globally(*transport, std::move(records), modes, Duplicates::Keep); }));
    std::vector<Triple> copy = triples;
    their_times.push_back(seconds([&] {
      std::ranges::sort(
          copy, [](const Triple& a, const Triple& b) { return a.row != b.row ? a.row < b.row : a.column < b.column; });
    }));
    for (int64_t k = 0; k < count; k++)
      if (records.at(k)[0] != copy[size_t(k)].row || records.at(k)[1] != copy[size_t(k)].column) std::abort();
  }
  double a = double(count) / median(our_times) / 1e6, b = double(count) / median(their_times) / 1e6;
  std::printf("%-26s %9lld records   ours %7.2f M/s   std::sort %7.2f M/s   ratio %.2f\n", name,
              static_cast<long long>(count), a, b, a / b);
}

}  // namespace

int main() {
  compare("square", 4'000'000, 1'000'000, 1'000'000);
  compare("tall", 4'000'000, 100'000'000, 100);
  compare("huge", 2'000'000, int64_t(1) << 45, int64_t(1) << 45);
}
