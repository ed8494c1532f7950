// A routine of one's own in the place of generated loops: every piece of a product of matrices is handed to it. Run with mpirun -n 4.
#include <iostream>
#include <spdistal/spdistal.hpp>

using namespace spdistal;

int main() {
  // Dense matrices in any order of their dimensions: strides tell how their elements lie.
  register_leaf({.name = "multiply",
                 .statement = "A(i,j) = B(i,k) * C(k,j)",
                 .types = {ScalarType::Float64},
                 .run = [](const LeafPiece& piece) {
                   auto at = [](const LeafTensor& t, int64_t row, int64_t column) -> double& {
                     return t.as<double>()[row * t.levels[0].stride + column * t.levels[1].stride];
                   };
                   const LeafTensor &A = piece["A"], &B = piece["B"], &C = piece["C"];
                   for (int64_t i = 0; i < A.levels[0].extent; i++)
                     for (int64_t j = 0; j < A.levels[1].extent; j++) {
                       double sum = piece.start == LeafStart::Combine ? at(A, i, j) : 0;
                       for (int64_t k = 0; k < B.levels[1].extent; k++) sum += at(B, i, k) * at(C, k, j);
                       at(A, i, j) = sum;
                     }
                 }});
  const int64_t n = 30;
  Machine M{Grid(2, 2)};
  DistVar x, y;
  Format tiles({Dense, Dense}, Distribution({x, y}, M, {x, y}));
  Tensor<double> A("A", {n, n}, tiles), B("B", {n, n}, tiles), C("C", {n, n}, tiles);
  B.fill([](std::span<const int64_t> at) { return double(at[0] + at[1]); });
  C.fill([](std::span<const int64_t> at) { return double(at[0] - at[1]); });
  // SUMMA: in each step a piece of the grid fetches a tile of B and one of C.
  IndexVar i("i"), j("j"), k("k"), io, ii, jo, ji, ko, ki;
  A(i, j) = B(i, k) * C(k, j);
  A.schedule().divide(i, io, ii, M.x).divide(j, jo, ji, M.y).divide(k, ko, ki, M.x).reorder({io, jo, ko, ii, ji, ki});
  A.schedule().distribute({io, jo}).communicate({A}, jo).communicate({B, C}, ko).substitute({ii, ji, ki}, "multiply");
  A.compute();
  Report report = A.report();
  if (rank() == 0) std::cout << report.str();
  bool right = true;
  for (auto [at, value] : A.local()) {
    double sum = 0;
    for (int64_t at_k = 0; at_k < n; at_k++) sum += double((at[0] + at_k) * (at_k - at[1]));
    right &= value == sum;
  }
  return right ? 0 : 1;
}
