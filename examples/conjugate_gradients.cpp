// Conjugate gradients: solves A x = b for the five-point Laplacian of a square grid. The statements of an iteration are said
// once, before the loop; inside it they are computed, in the order in which they were said.
#include <cmath>
#include <iostream>
#include <spdistal/spdistal.hpp>

using namespace spdistal;

int main() {
  const int side = 16, n = side * side;
  IndexVar i("i"), j("j");

  Tensor<double> A("A", {n, n}, CSR);
  for (int row = 0; row < side; row++)
    for (int column = 0; column < side; column++) {
      int here = row * side + column;
      A.insert({here, here}, 4);
      if (row > 0) A.insert({here, here - side}, -1);
      if (row < side - 1) A.insert({here, here + side}, -1);
      if (column > 0) A.insert({here, here - 1}, -1);
      if (column < side - 1) A.insert({here, here + 1}, -1);
    }
  A.pack();

  // A right side whose solution is known.
  Tensor<double> solution("solution", {n}, {Dense}), b("b", {n}, {Dense});
  solution.fill([](std::span<const int64_t> at) { return std::sin(double(at[0])); });
  b(i) = A(i, j) * solution(j);

  // Start from x = 0.
  Tensor<double> x("x", {n}, {Dense}), r("r", {n}, {Dense}), p("p", {n}, {Dense}), q("q", {n}, {Dense});
  Tensor<double> rr("rr"), next("next"), pq("pq"), alpha("alpha"), beta("beta");
  x.fill(0);
  r(i) = b(i), r.compute();
  p(i) = b(i), p.compute();
  rr() = r(i) * r(i);
  const double start = std::sqrt(double(rr));

  // An iteration.
  q(i) = A(i, j) * p(j);
  pq() = p(i) * q(i);
  alpha() = rr() / pq();
  x(i) += alpha() * p(i);
  r(i) = r(i) - alpha() * q(i);
  next() = r(i) * r(i);
  beta() = next() / rr();
  p(i) = r(i) + beta() * p(i);
  rr() = next();

  int iterations = 0;
  double now = start;
  for (; now > 1e-12 * start && iterations < n; iterations++) {
    for (TensorBase* each : {&q, &pq, &alpha, &x, &r, &next, &beta, &p, &rr}) each->compute();
    now = std::sqrt(double(rr));
  }

  // The answer, apart from the iteration: the residual anew, and the distance from the solution.
  Tensor<double> residual("residual"), error("error");
  residual() = (b(i) - sum(j, A(i, j) * x(j))) * (b(i) - sum(j, A(i, j) * x(j)));
  error() = (x(i) - solution(i)) * (x(i) - solution(i));
  double left = std::sqrt(double(residual)), distance = std::sqrt(double(error));
  if (rank() == 0)
    std::cout << n << " unknowns on " << ranks() << " ranks: " << iterations << " iterations, residual " << left
              << ", distance from the solution " << distance << "\n";
  return left < 1e-10 * start && distance < 1e-9 ? 0 : 1;
}
