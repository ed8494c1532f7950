// Shortest paths on a grid from its first corner (Bellman and Ford). What is not stored is infinitely far away: the statement
// walks the edges, and an edge that is not there changes nothing.
#include <iostream>
#include <limits>
#include <spdistal/spdistal.hpp>

using namespace spdistal;

int main() {
  const int side = 12, n = side * side;
  const double inf = std::numeric_limits<double>::infinity();
  Tensor<double> A("A", {n, n}, CSR.filled(inf)), d("d", {n}, Format({Dense}).filled(inf)), old("old", {n}, {Dense});
  Tensor<bool> changed("changed");
  for (int v = 0; v < n; v++) {
    if (v % side > 0) A.insert({v, v - 1}, 1.0), A.insert({v - 1, v}, 1.0);
    if (v >= side) A.insert({v, v - side}, 2.0), A.insert({v - side, v}, 2.0);
  }
  A.pack();
  d.insert({0}, 0.0);
  d.pack();

  IndexVar i("i"), j("j");
  int rounds = 0;
  for (bool again = true; again; rounds++) {
    old(i) = d(i);
    d(i).min_with(A(j, i) + d(j));
    changed() = any(i, d(i) != old(i));
    again = changed.at({});
  }

  bool right = true;
  for (auto [at, length] : d.local()) right &= length == double(at[0] % side + 2 * (at[0] / side));
  if (rank() == 0) std::cout << "shortest paths to " << n << " vertices in " << rounds << " rounds\n";
  return right ? 0 : 1;
}
