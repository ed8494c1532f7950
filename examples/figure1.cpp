// The paper's first figure: a distributed sparse matrix-vector product, described by four independent texts; then data, the
// result, and what moved. `figure1` runs on as many pieces as there are ranks, `figure1 4` on four, whoever has them.
#include <iostream>
#include <spdistal/spdistal.hpp>
#include <string>

using namespace spdistal;

int main(int argc, char** argv) {
  // Sizes that are known later.
  Param pieces("pieces"), n("n"), m("m");
  // A machine: a row of processors.
  Machine M{Grid(pieces)};

  // How tensors are stored, and where they live: a and B in blocks of rows, c everywhere.
  DistVar x, y;
  Format BlockedDense({Dense}, Distribution({x}, M, {x}));
  Format ReplDense({Dense}, Distribution({x}, M, {y}));
  Format BlockedCSR({Dense, Compressed}, Distribution({x, y}, M, {x}));
  Tensor<double> a("a", {n}, BlockedDense);
  Tensor<double> B("B", {n, m}, BlockedCSR);
  Tensor<double> c("c", {m}, ReplDense);

  // What to compute.
  IndexVar i("i"), j("j"), io("io"), ii("ii");
  a(i) = B(i, j) * c(j);

  // How to run it: a block of rows on each processor, its rows over threads.
  a.schedule().divide(i, io, ii, M.x).distribute(io).communicate({a, B, c}, io).parallelize(ii, CPUThread);

  // Every rank runs all of this; one speaks.
  if (rank() != 0) std::cout.setstate(std::ios::failbit);
  std::cout << a.statement();

  // Data: a matrix with neighbours on both sides of the diagonal, and 0, 1, 2, … as the vector.
  if (argc > 1) pieces = std::stoi(argv[1]);
  n = 8, m = 8;
  for (int row = 0; row < 8; row++) {
    if (row > 0) B.insert({row, row - 1}, -1);
    B.insert({row, row}, 3);
    if (row < 7) B.insert({row, row + 1}, -1);
  }
  B.pack();
  c.fill([](std::span<const int64_t> at) { return double(at[0]); });

  // Asking for values computes them.
  std::cout << "\nvalues\n";
  bool right = true;
  for (const auto& [at, value] : a.gather()) {
    std::cout << "  a(" << at[0] << ") = " << value << "\n";
    right &= value == (at[0] == 0 ? -1 : at[0] == 7 ? 15 : double(at[0]));
  }
  std::cout << "\nreport\n" << a.report().str();
  return right ? 0 : 1;
}
