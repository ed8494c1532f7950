// The coarse matrix of a multigrid method, R A P, with R the transpose of P: neighbours become one unknown.
#include <iostream>
#include <spdistal/spdistal.hpp>

using namespace spdistal;

int main() {
  const int n = 128, half = n / 2;
  Tensor<double> A("A", {n, n}, CSR), P("P", {n, half}, CSR), AP("AP", {n, half}, CSR);
  Tensor<double> coarse("coarse", {half, half}, CSR);
  for (int row = 0; row < n; row++) {
    A.insert({row, row}, 2);
    if (row > 0) A.insert({row, row - 1}, -1), A.insert({row - 1, row}, -1);
    P.insert({row, row / 2}, 1);
  }
  A.pack(), P.pack();

  IndexVar i("i"), j("j"), k("k"), l("l");
  AP(k, j) = A(k, l) * P(l, j);
  coarse(i, j) = P(k, i) * AP(k, j);

  // It is the matrix that A is, of half the size.
  const int64_t stored = coarse.nnz();
  bool right = stored == 3 * half - 2;
  for (auto [at, value] : coarse.local()) right &= value == (at[0] == at[1] ? 2 : -1);
  if (rank() == 0) std::cout << half << " rows, " << stored << " stored, on " << ranks() << " ranks\n";
  return right ? 0 : 1;
}
