// Breadth first search on a grid, by statements: how many steps each vertex is away from the first corner.
#include <iostream>
#include <spdistal/spdistal.hpp>

using namespace spdistal;

int main() {
  const int side = 12, n = side * side;
  Tensor<double> links("links", {n, n}, CSR), left("left");
  Tensor<double> frontier("frontier", {n}, {Dense}), unseen("unseen", {n}, {Dense}), level("level", {n}, {Dense});
  for (int v = 0; v < n; v++) {
    if (v % side > 0) links.insert({v, v - 1}, 1), links.insert({v - 1, v}, 1);
    if (v >= side) links.insert({v, v - side}, 1), links.insert({v - side, v}, 1);
  }
  links.pack();
  frontier.fill([](std::span<const int64_t> at) { return at[0] == 0 ? 1 : 0; });
  unseen.fill(1), level.fill(0);

  IndexVar i("i"), j("j");
  int steps = 0;
  for (double found = 1; found > 0; steps++) {
    level(i) += double(steps) * frontier(i);
    unseen(i) = unseen(i) - frontier(i);
    frontier(i) = unseen(i) * min(sum(j, links(j, i) * frontier(j)), 1.0);
    left() = frontier(i);
    found = double(left);
  }

  bool right = steps == 2 * side - 1;
  for (auto [at, steps_to] : level.local()) right &= steps_to == double(at[0] / side + at[0] % side);
  if (rank() == 0) std::cout << n << " vertices in " << steps << " steps\n";
  return right ? 0 : 1;
}
