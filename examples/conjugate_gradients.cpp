// Solves A x = b for the five-point Laplacian of a square grid by conjugate gradients. The method itself stands in
// spdistal/solvers.hpp: a loop of statements.
#include <cmath>
#include <iostream>
#include <spdistal/solvers.hpp>
#include <spdistal/spdistal.hpp>

using namespace spdistal;

int main() {
  const int side = 16, n = side * side;
  Tensor<double> A("A", {n, n}, CSR), solution("solution", {n}, {Dense}), b("b", {n}, {Dense}), x("x", {n}, {Dense});
  for (int here = 0; here < n; here++) {
    A.insert({here, here}, 4);
    if (here >= side) A.insert({here, here - side}, -1), A.insert({here - side, here}, -1);
    if (here % side > 0) A.insert({here, here - 1}, -1), A.insert({here - 1, here}, -1);
  }
  A.pack();

  // A right side whose solution is known.
  IndexVar i("i"), j("j");
  solution.fill([](std::span<const int64_t> at) { return std::sin(double(at[0])); });
  b(i) = A(i, j) * solution(j);

  x.fill(0);
  Solution found = conjugate_gradients(A, b, x, {.tolerance = 1e-12});

  Tensor<double> error("error");
  error() = (x(i) - solution(i)) * (x(i) - solution(i));
  double distance = std::sqrt(double(error));
  if (rank() == 0)
    std::cout << n << " unknowns on " << ranks() << " ranks: " << found.iterations << " iterations, residual "
              << found.residual << ", distance from the solution " << distance << "\n";
  return found.converged && distance < 1e-9 ? 0 : 1;
}
