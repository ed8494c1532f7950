// Arrays that each rank has made for itself, used in place as the rows of one matrix; run with mpirun -n 4.
#include <algorithm>
#include <iostream>
#include <spdistal/spdistal.hpp>

using namespace spdistal;

int main() {
  // Blocks of rows, of which each rank has one: where a matrix in rows lives unless somebody says otherwise.
  const int64_t n = 40, block = (n + ranks() - 1) / ranks();
  const int64_t first = std::min(n, rank() * block), last = std::min(n, first + block);
  std::vector<int32_t> pos{0}, crd;
  for (int64_t row = first; row < last; row++, pos.push_back(int32_t(crd.size())))
    for (int64_t column : {row, row + 7})
      if (column < n) crd.push_back(int32_t(column));
  std::vector<double> values(crd.size(), 0.5);

  auto A = Tensor<double>::view_csr_local({n, n}, first, pos, crd, values);
  Tensor<double> a("a", {n}, {Dense}), c("c", {n}, {Dense});
  c.fill([](std::span<const int64_t> at) { return double(at[0]); });
  IndexVar i("i"), j("j");
  a(i) = A(i, j) * c(j);
  a.compute();

  bool right = A.values().data() == values.data();  // nothing was copied
  for (auto [at, value] : a.local()) right &= value == (at[0] + 7 < n ? double(at[0]) + 3.5 : 0.5 * double(at[0]));
  std::cout << "rank " << rank() << " brought " << values.size() << " entries\n";
  return right ? 0 : 1;
}
