// Ranks the pages of a star: every page links to the first, and the first to every other. Each turn says its statements anew, as one
// would write them down; what was compiled and planned for the first is found again.
#include <cmath>
#include <iostream>
#include <spdistal/spdistal.hpp>

using namespace spdistal;

int main() {
  const int n = 500;
  const double damping = 0.85;

  // P(i, j): the chance to go from j to i.
  Tensor<double> P("P", {n, n}, CSR), x("x", {n}, {Dense}), y("y", {n}, {Dense}), change("change");
  for (int page = 1; page < n; page++) P.insert({0, page}, 1.0), P.insert({page, 0}, 1.0 / (n - 1));
  P.pack();
  x.fill(1.0 / n);

  IndexVar i("i"), j("j");
  int turns = 0;
  for (double moved = 1; moved > 1e-12 && turns < 500; turns++) {
    y(i) = damping * P(i, j) * x(j) + (1 - damping) / n;
    change() = sum(i, abs(y(i) - x(i)));
    x(i) = y(i);
    moved = double(change);
  }

  const double expected = (1 - damping) / n * (1 + damping * (n - 1)) / (1 - damping * damping);
  if (rank() == 0) std::cout << turns << " turns on " << ranks() << " ranks\n";
  return std::abs(x.at({0}) - expected) < 1e-12 ? 0 : 1;
}
