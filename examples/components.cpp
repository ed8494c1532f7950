// Connected components of seven rings: every vertex takes the least number that it hears of, over links of length 0.
#include <iostream>
#include <limits>
#include <spdistal/spdistal.hpp>

using namespace spdistal;

int main() {
  const int rings = 7, n = 40 * rings;
  const double inf = std::numeric_limits<double>::infinity();
  Tensor<double> A("A", {n, n}, CSR.filled(inf)), label("label", {n}, {Dense}), old("old", {n}, {Dense});
  Tensor<bool> changed("changed");
  for (int v = 0; v < n; v++) A.insert({v, (v + rings) % n}, 0.0), A.insert({(v + rings) % n, v}, 0.0);
  A.pack();
  label.fill([](std::span<const int64_t> at) { return double(at[0]); });

  IndexVar i("i"), j("j");
  for (bool again = true; again; again = changed.at({})) {
    old(i) = label(i);
    label(i).min_with(A(i, j) + label(j));
    changed() = any(i, label(i) != old(i));
  }

  bool right = true;
  for (auto [at, least] : label.local()) right &= least == double(at[0] % rings);
  if (rank() == 0) std::cout << n << " vertices in " << rings << " components\n";
  return right ? 0 : 1;
}
