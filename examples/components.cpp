// Connected components of a random graph: every vertex takes the least number that it hears of, over links of length 0.
#include <iostream>
#include <limits>
#include <numeric>
#include <random>
#include <spdistal/spdistal.hpp>

using namespace spdistal;

int main() {
  const int n = 600;
  const double inf = std::numeric_limits<double>::infinity();
  std::mt19937 random(5);
  std::vector<std::pair<int, int>> links;
  for (int k = 0; k < n / 2; k++) links.emplace_back(random() % n, random() % n);

  Tensor<double> A("A", {n, n}, CSR.filled(inf)), label("label", {n}, {Dense}), old("old", {n}, {Dense});
  for (auto [a, b] : links) A.insert({a, b}, 0.0), A.insert({b, a}, 0.0);
  A.pack();
  for (int k = 0; k < n; k++) label.insert({k}, double(k));
  label.pack();

  IndexVar i("i"), j("j");
  Tensor<bool> changed("changed");
  for (bool again = true; again; again = changed.at({})) {
    old(i) = label(i);
    label(i).min_with(A(i, j) + label(j));
    changed() = any(i, label(i) != old(i));
  }

  std::vector<int> leader(n);
  std::iota(leader.begin(), leader.end(), 0);
  for (int round = 0; round < n; round++)
    for (auto [a, b] : links) leader[a] = leader[b] = std::min(leader[a], leader[b]);
  int wrong = 0, components = 0;
  for (const auto& [at, name] : label.gather()) {
    wrong += name != leader[size_t(at[0])];
    components += name == double(at[0]);
  }
  if (rank() == 0) std::cout << n << " vertices in " << components << " components\n";
  return wrong == 0 ? 0 : 1;
}
