// Breadth first search on a grid, by statements: how many steps each vertex is away from the first corner.
#include <iostream>
#include <spdistal/spdistal.hpp>

using namespace spdistal;

int main() {
  const int side = 12, n = side * side;
  Tensor<bool> links("links", {n, n}, CSR), left("left"), frontier("frontier", {n}, {Dense}),
      seen("seen", {n}, {Dense});
  Tensor<double> level("level", {n}, {Dense});
  for (int v = 0; v < n; v++) {
    if (v % side > 0) links.insert({v, v - 1}, true), links.insert({v - 1, v}, true);
    if (v >= side) links.insert({v, v - side}, true), links.insert({v - side, v}, true);
  }
  links.pack();
  frontier.fill([](std::span<const int64_t> at) { return at[0] == 0; });
  seen.fill(false), level.fill(0);

  IndexVar i("i"), j("j");
  int steps = 0;
  for (bool found = true; found; steps++) {
    level(i) += double(steps) * frontier(i);
    seen(i) |= frontier(i);
    frontier(i) = any(j, links(j, i) & frontier(j)) & (seen(i) == false);
    left() = any(i, frontier(i));
    found = left.at({});
  }

  bool right = steps == 2 * side - 1;
  for (auto [at, steps_to] : level.local()) right &= steps_to == double(at[0] / side + at[0] % side);
  if (rank() == 0) std::cout << n << " vertices in " << steps << " steps\n";
  return right ? 0 : 1;
}
