// PageRank of a random graph. Every iteration says its statements anew, as one would write it down; what was compiled and
// planned the first time is found again.
#include <cmath>
#include <iostream>
#include <random>
#include <set>
#include <spdistal/spdistal.hpp>

using namespace spdistal;

int main() {
  const int n = 500;
  const double damping = 0.85;

  // Links from page to page, the same on every rank; every tenth page leads nowhere.
  std::mt19937 random(7);
  std::vector<std::set<int>> links(n);
  for (int page = 0; page < n; page++)
    for (int k = 0; page % 10 != 0 && k < 8; k++) links[page].insert(int(random() % n * (random() % n) / n));

  // P(i, j): the chance to go from j to i.
  Tensor<double> P("P", {n, n}, CSR);
  for (int page = 0; page < n; page++)
    for (int to : links[page]) P.insert({to, page}, 1.0 / double(links[page].size()));
  P.pack();

  IndexVar i("i"), j("j");
  Tensor<double> x("x", {n}, {Dense}), y("y", {n}, {Dense}), followed("followed"), change("change");
  x.fill(1.0 / n);

  int iterations = 0;
  double moved = 1;
  for (; moved > 1e-12 && iterations < 200; iterations++) {
    y(i) = damping * P(i, j) * x(j);
    // Who does not follow a link starts anywhere.
    followed() = y(i);
    y(i) += (1 - followed()) / double(n);
    change() = sum(i, abs(y(i) - x(i)));
    x(i) = y(i);
    moved = double(change);
  }

  // A fixed point, by plain loops over the links.
  std::vector<double> at(n), next(n, 0);
  for (const auto& [place, value] : x.gather()) at[place[0]] = value;
  double total = 0, left = 0;
  for (int page = 0; page < n; page++)
    for (int to : links[page]) next[to] += damping * at[page] / double(links[page].size());
  for (int page = 0; page < n; page++) total += at[page], left += next[page];
  double difference = 0;
  for (int page = 0; page < n; page++) difference += std::abs(next[page] + (1 - left) / n - at[page]);

  if (rank() == 0)
    std::cout << n << " pages on " << ranks() << " ranks: " << iterations << " iterations, sum " << total
              << ", distance from a fixed point " << difference << "\n";
  return std::abs(total - 1) < 1e-12 && difference < 1e-11 ? 0 : 1;
}
