// Shortest paths from one vertex of a random graph (Bellman and Ford). What is not stored is infinitely far away: the
// statement walks the edges, and an edge that is not there changes nothing.
#include <iostream>
#include <limits>
#include <map>
#include <random>
#include <spdistal/spdistal.hpp>

using namespace spdistal;

int main() {
  const int n = 400;
  const double inf = std::numeric_limits<double>::infinity();
  std::mt19937 random(7);
  std::map<std::pair<int, int>, double> edges;
  for (int k = 0; k < 3 * n; k++) edges[{int(random() % n), int(random() % n)}] = double(1 + random() % 9);

  Tensor<double> A("A", {n, n}, CSR.filled(inf)), d("d", {n}, Format({Dense}).filled(inf)), old("old", {n}, {Dense});
  for (const auto& [edge, length] : edges) A.insert({edge.first, edge.second}, length);
  A.pack();
  d.insert({0}, 0.0);
  d.pack();

  IndexVar i("i"), j("j");
  Tensor<bool> changed("changed");
  int rounds = 0;
  for (bool again = true; again; rounds++) {
    old(i) = d(i);
    d(i).min_with(A(j, i) + d(j));
    changed() = any(i, d(i) != old(i));
    again = changed.at({});
  }

  std::vector<double> wanted(n, inf);
  wanted[0] = 0;
  for (int round = 0; round < n; round++)
    for (const auto& [edge, length] : edges)
      wanted[edge.second] = std::min(wanted[edge.second], wanted[edge.first] + length);
  int wrong = 0;
  for (const auto& [at, length] : d.gather()) wrong += length != wanted[size_t(at[0])];
  if (rank() == 0) std::cout << "shortest paths to " << n << " vertices in " << rounds << " rounds\n";
  return wrong == 0 ? 0 : 1;
}
