// Counts the triangles of a graph: of a ring in which each vertex is linked to the two before it and the two behind.
#include <iostream>
#include <spdistal/spdistal.hpp>

using namespace spdistal;

int main() {
  const int n = 300;
  // Each edge once, from the smaller number to the larger.
  Tensor<int64_t> U("U", {n, n}, CSR), count("count");
  for (int v = 0; v < n; v++)
    for (int next : {(v + 1) % n, (v + 2) % n}) U.insert({std::min(v, next), std::max(v, next)}, 1);
  U.pack();

  IndexVar i("i"), j("j"), k("k");
  count() = U(i, j) * U(j, k) * U(i, k);

  if (int64_t triangles = int64_t(count); rank() == 0) std::cout << triangles << " triangles\n";
  return int64_t(count) == n ? 0 : 1;
}
