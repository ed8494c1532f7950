// A layer of a graph neural network on a ring: features of neighbours, weighted, and a product at the places of the edges.
#include <cmath>
#include <iostream>
#include <spdistal/spdistal.hpp>

using namespace spdistal;

int main() {
  const int n = 200, features = 16;
  Tensor<double> A("A", {n, n}, CSR), H("H", {n, features}, {Dense, Dense}), W("W", {features, 2}, {Dense, Dense});
  Tensor<double> hidden("hidden", {n, 2}, {Dense, Dense}), scores("scores", {n, n}, CSR);
  for (int v = 0; v < n; v++)
    for (int next : {v + n - 1, v, v + 1}) A.insert({v, next % n}, 1.0 / 3);
  A.pack();
  H.fill([](std::span<const int64_t> at) { return double(at[0]); });
  W.fill([](std::span<const int64_t> at) { return at[1] == 0 ? 1.0 : -1.0; });

  IndexVar i("i"), j("j"), k("k"), l("l");
  hidden(i, l) = max(sum(j, A(i, j) * sum(k, H(j, k) * W(k, l))), 0.0);
  scores(i, j) = A(i, j) * sum(l, hidden(i, l) * hidden(j, l));

  // Inside of the ring the mean of the neighbours v - 1, v and v + 1 is v.
  const int64_t edges = scores.nnz();
  bool right = edges == 3 * n;
  for (auto [at, score] : scores.local())
    if (at[0] > 1 && at[0] < n - 2) right &= std::abs(score - double(features * features * at[0] * at[1]) / 3) < 1e-6;
  if (rank() == 0) std::cout << edges << " scores of edges on " << ranks() << " ranks\n";
  return right ? 0 : 1;
}
