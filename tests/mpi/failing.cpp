// A product of sparse matrices and its way into a file, on ranks of which one runs out of memory:
//
//     mpirun -n 3 failing RANK WHICH BYTES FILE     the request number WHICH for at least BYTES fails on RANK
//
// Ends with 0 where there are fewer requests, else with 3 and one message.
#include <cstdio>
#include <cstdlib>
#include <spdistal/program.hpp>
#include <spdistal/spdistal.hpp>

#include "mpi/allocations.hpp"
#include "mpi/ranks.hpp"

using namespace spdistal;

using runtime::testkit::fail_large_allocation;

int runtime::testkit::cases(int, int under_mpi) { return under_mpi; }

namespace {

void multiply(const char* file) {
  constexpr int64_t n = 60;
  IndexVar i("i"), j("j"), k("k");
  Tensor<double> A("A", {n, n}, CSR), B("B", {n, n}, CSR), C("C", {n, n}, CSR);
  for (int64_t row = 0; row < n; row++)
    for (int64_t step = 1; step < 6; step++) {
      B.insert({row, (row * step) % n}, 1.0);
      C.insert({(row * step + 1) % n, row}, 2.0);
    }
  B.pack();
  C.pack();
  A(i, j) = B(i, k) * C(k, j);
  A.compute();
  A.write(file);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 5) return 2;
  try {
    Program::leads();  // the ranks are connected
    return Program::on_all_ranks([&] {
      if (rank() == std::atoi(argv[1])) fail_large_allocation(std::atoll(argv[2]), size_t(std::atoll(argv[3])));
      multiply(argv[4]);
      fail_large_allocation(-1, 0);
      return 0;
    });
  } catch (const std::exception& error) {
    fail_large_allocation(-1, 0);
    if (Program::leads()) std::fprintf(stderr, "error: %s\n", error.what());
    return 3;
  }
}
