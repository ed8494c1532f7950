// CP decomposition of a sparse 3-tensor by alternating least squares: T(i,j,k) ≈ F0(i,r) * F1(j,r) * F2(k,r), one factor after the
// other the best for the two that stand. The large products are statements, as text; a small system is solved on every rank.
#include <cmath>
#include <iostream>
#include <spdistal/spdistal.hpp>

using namespace spdistal;

int main() {
  // A sum of two products of vectors: one of even coordinates, one of odd.
  Tensor<double> T("T", {30, 24, 20}, CSF(3));
  for (int i = 0; i < 30; i++)
    for (int j = i % 2; j < 24; j += 2)
      for (int k = i % 2; k < 20; k += 2) T.insert({i, j, k}, (1 + 0.1 * i) * (2 - 0.05 * j) * (1 + k % 3));
  T.pack();

  std::vector<Tensor<double>> F;
  for (int64_t n : T.dims()) F.emplace_back(std::vector<Extent>{n, 2}, Format({Dense, Dense}));
  for (Tensor<double>& factor : F)
    factor.fill([](std::span<const int64_t> at) { return 1 + 0.5 * std::sin(double(at[0] * (at[1] + 1))); });

  const std::string product[] = {"P(i,r) = X(j,r) * Y(k,r)", "P(j,r) = X(i,r) * Y(k,r)", "P(k,r) = X(i,r) * Y(j,r)"};
  for (int step = 0; step < 60; step++) {
    const Tensor<double>&X = F[step % 3 == 0 ? 1 : 0], &Y = F[step % 3 == 2 ? 1 : 2];
    Tensor<double> P = evaluate(product[step % 3] + " * T(i,j,k)", {{"T", T}, {"X", X}, {"Y", Y}});
    Tensor<double> G = evaluate("G(r,s) = X(i,r) * X(i,s) * Y(j,r) * Y(j,s)", {{"X", X}, {"Y", Y}});
    std::vector<double> g(4);
    G.to_dense(g);
    const double d = g[0] * g[3] - g[1] * g[2];
    auto inverse = Tensor<double>::adopt_dense({2, 2}, {g[3] / d, -g[1] / d, -g[2] / d, g[0] / d});
    F[step % 3] = evaluate("F(i,r) = P(i,s) * G(s,r)", {{"P", P}, {"G", inverse}});
  }

  Tensor<double> e = evaluate("e = sum(i, sum(j, sum(k, pow(T(i,j,k) - sum(r, X(i,r) * Y(j,r) * Z(k,r)), 2))))",
                              {{"T", T}, {"X", F[0]}, {"Y", F[1]}, {"Z", F[2]}});
  const double distance = std::sqrt(double(e));
  if (rank() == 0) std::cout << "distance " << distance << " on " << ranks() << " ranks\n";
  return distance < 1e-6 ? 0 : 1;
}
