// The widest paths from one vertex of a random graph: a path is as wide as its narrowest edge.
#include <iostream>
#include <limits>
#include <map>
#include <random>
#include <spdistal/spdistal.hpp>

using namespace spdistal;

int main() {
  const int n = 300;
  const double inf = std::numeric_limits<double>::infinity();
  std::mt19937 random(9);
  std::map<std::pair<int, int>, double> edges;
  for (int k = 0; k < 4 * n; k++) edges[{int(random() % n), int(random() % n)}] = double(1 + random() % 99);

  Tensor<double> A("A", {n, n}, CSR.filled(-inf)), w("w", {n}, Format({Dense}).filled(-inf)), old("old", {n}, {Dense});
  for (const auto& [edge, width] : edges) A.insert({edge.first, edge.second}, width);
  A.pack();
  w.insert({0}, inf);
  w.pack();

  IndexVar i("i"), j("j");
  Tensor<bool> changed("changed");
  for (bool again = true; again; again = changed.at({})) {
    old(i) = w(i);
    w(i).max_with(min(A(j, i), w(j)));
    changed() = any(i, w(i) != old(i));
  }

  std::vector<double> wanted(n, -inf);
  wanted[0] = inf;
  for (int round = 0; round < n; round++)
    for (const auto& [edge, width] : edges)
      wanted[edge.second] = std::max(wanted[edge.second], std::min(wanted[edge.first], width));
  int wrong = 0;
  for (const auto& [at, width] : w.gather()) wrong += width != wanted[size_t(at[0])];
  if (rank() == 0) std::cout << "the widest paths to " << n << " vertices\n";
  return wrong == 0 ? 0 : 1;
}
