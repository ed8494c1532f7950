// Power iteration: the largest eigenvalue of a matrix whose eigenvalues are known, the Laplacian of a path. The vector is
// multiplied in place: a statement may read what its result held before.
#include <cmath>
#include <iostream>
#include <numbers>
#include <spdistal/spdistal.hpp>

using namespace spdistal;

int main() {
  const int n = 8;
  IndexVar i("i"), j("j");

  Tensor<double> A("A", {n, n}, CSR);
  for (int row = 0; row < n; row++) {
    if (row > 0) A.insert({row, row - 1}, -1);
    A.insert({row, row}, 2);
    if (row < n - 1) A.insert({row, row + 1}, -1);
  }
  A.pack();

  Tensor<double> x("x", {n}, {Dense}), y("y", {n}, {Dense}), xx("xx"), xy("xy");
  x.fill([](std::span<const int64_t> at) { return at[0] == 0 ? 1.0 : 0.0; });

  // One multiplication, and the Rayleigh quotient of the vector before it, which has length 1.
  y(i) = A(i, j) * x(j);
  xy() = x(i) * y(i);
  xx() = y(i) * y(i);
  x(i) = y(i) / sqrt(xx());

  double eigenvalue = 0, before = -1;
  int iterations = 0;
  for (; std::abs(eigenvalue - before) > 1e-12 && iterations < 2000; iterations++) {
    y.compute(), xy.compute(), xx.compute(), x.compute();
    before = eigenvalue;
    eigenvalue = double(xy);
  }

  double exact = 2 + 2 * std::cos(std::numbers::pi / (n + 1));
  if (rank() == 0)
    std::cout << "eigenvalue " << eigenvalue << " after " << iterations << " iterations on " << ranks()
              << " ranks, exactly " << exact << "\n";
  return std::abs(eigenvalue - exact) < 1e-10 ? 0 : 1;
}
