// Packing random triples into CSR, against std::sort of the same triples: bench_packing [millions of triples].
#include <fmt/format.h>
#include <omp.h>

#include <cstdlib>
#include <random>

#include "stopwatch.hpp"
#include "tensor/pack.hpp"

using namespace spdistal;

int main(int argc, char** argv) {
  int64_t n = int64_t((argc > 1 ? std::atof(argv[1]) : 10) * 1e6), size = 1000000;
  struct Triple {
    int32_t row, column;
    double value;
  };
  std::vector<Triple> triples(static_cast<size_t>(n)), copy;
  std::mt19937_64 random(1);
  for (Triple& t : triples)
    t = {int32_t(random() % uint64_t(size)), int32_t(random() % uint64_t(size)), double(random() % 1000)};
  Coordinates source({size, size}, ScalarType::Float64);
  source.resize(n);
  for (size_t e = 0; e < triples.size(); e++) {
    source.column(0)[e] = triples[e].row, source.column(1)[e] = triples[e].column;
    source.values<double>()[e] = triples[e].value;
  }

  Coordinates entries(source.dims(), source.type());
  auto load = [&] { entries = source.clone(); };
  auto pack_with = [&](int threads) {
    return [&, threads] {
      omp_set_num_threads(threads);
      Storage packed = pack(std::move(entries), CSR);
      if (packed.nnz() > n) std::abort();
    };
  };
  std::vector<Contestant> contestants{{"std::sort of the triples", [&] { copy = triples; },
                                       [&] {
                                         std::sort(copy.begin(), copy.end(), [](const Triple& a, const Triple& b) {
                                           return std::pair(a.row, a.column) < std::pair(b.row, b.column);
                                         });
                                       }},
                                      {"pack into CSR, 1 thread", load, pack_with(1)},
                                      {"pack into CSR, 2 threads", load, pack_with(2)}};
  race(contestants, 5);
  for (const Contestant& each : contestants)
    fmt::print("{:<26} {:7.3f} s  {:5.2f} x the speed of std::sort  ({:.3f} s of processors, {:.2f} x)\n", each.name,
               each.median(), contestants[0].median() / each.median(), each.processor(),
               contestants[0].processor() / each.processor());
}
