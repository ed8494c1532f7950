// The widest paths from the first vertex of a chain whose edges become narrower: a path is as wide as its narrowest edge.
#include <iostream>
#include <limits>
#include <spdistal/spdistal.hpp>

using namespace spdistal;

int main() {
  const int n = 60;
  const double inf = std::numeric_limits<double>::infinity();
  Tensor<double> A("A", {n, n}, CSR.filled(-inf)), w("w", {n}, Format({Dense}).filled(-inf)), old("old", {n}, {Dense});
  Tensor<bool> changed("changed");
  for (int v = 0; v + 1 < n; v++) A.insert({v, v + 1}, double(n - v));
  for (int v = 2; v < n; v++) A.insert({0, v}, 1.0);  // shorter, and narrow
  A.pack();
  w.insert({0}, inf);
  w.pack();

  IndexVar i("i"), j("j");
  for (bool again = true; again; again = changed.at({})) {
    old(i) = w(i);
    w(i).max_with(min(A(j, i), w(j)));
    changed() = any(i, w(i) != old(i));
  }

  bool right = true;
  for (auto [at, width] : w.local()) right &= width == (at[0] == 0 ? inf : double(n - at[0] + 1));
  if (rank() == 0) std::cout << "the widest paths to " << n << " vertices\n";
  return right ? 0 : 1;
}
