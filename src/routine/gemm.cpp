// gemm: the product of two dense matrices, by BLAS.
//
// BLAS takes matrices by columns. One that lies by rows is its own transpose by columns; where the result does, the product of the
// transposed, in the other order, is what is asked for.
#include <fmt/format.h>

#include <algorithm>
#include <complex>

#include "base/require.hpp"
#include "routine/blas.hpp"
#include "routine/registry.hpp"

namespace spdistal::routine {
namespace {

enum class Lies : uint8_t { ByRows, ByColumns };

struct BlasMatrix {
  void* data;
  Lies lies;
  int64_t leading;  // how far apart rows or columns stand
};

// Strides of dimensions with one coordinate say nothing.
BlasMatrix matrix_of(const LeafTensor& tensor) {
  const LeafLevel &rows = tensor.levels[0], &columns = tensor.levels[1];
  if (columns.stride == 1 || columns.extent <= 1)
    return {tensor.values, Lies::ByRows, std::max<int64_t>({rows.stride, columns.extent, 1})};
  require(rows.stride == 1 || rows.extent <= 1, "the last level of a dense matrix lies without gaps");
  return {tensor.values, Lies::ByColumns, std::max<int64_t>({columns.stride, rows.extent, 1})};
}

Blas::Gemm function_for(const Blas& blas, ScalarType type) {
  switch (type) {
    case ScalarType::Float32: return blas.sgemm_;
    case ScalarType::Float64: return blas.dgemm_;
    case ScalarType::Complex64: return blas.cgemm_;
    default: return blas.zgemm_;
  }
}

void multiply(const Blas& blas, const LeafPiece& piece) {
  const LeafTensor &A = piece["A"], &B = piece["B"], &C = piece["C"];
  int64_t m = A.levels[0].extent, n = A.levels[1].extent, k = B.levels[1].extent;
  BlasMatrix result = matrix_of(A), left = matrix_of(B), right = matrix_of(C);
  if (result.lies == Lies::ByRows) std::swap(left, right), std::swap(m, n);
  const int64_t most = INT32_MAX;  // of libraries with whole numbers of 32 bits
  if (std::max({m, n, k, left.leading, right.leading, result.leading}) > most)
    throw UserError(fmt::format("gemm takes matrices of at most {} rows and columns", most),
                    "cut them into more pieces");
  const char* as_it_is = "N";
  const char* transposed = "T";
  auto how = [&](const BlasMatrix& matrix) { return matrix.lies == result.lies ? as_it_is : transposed; };
  if (blas.use_threads) blas.use_threads(int(piece.threads));
  with_type(A.type, [&](auto zero) {
    using T = decltype(zero);
    const T one(1), added = piece.start == LeafStart::Combine ? T(1) : T(0);
    function_for(blas, A.type)(how(left), how(right), &m, &n, &k, &one, left.data, &left.leading, right.data,
                               &right.leading, &added, result.data, &result.leading, 1, 1);
  });
}

}  // namespace

std::vector<Routine> blas_routines() {
  LeafRoutine gemm{.name = "gemm",
                   .statement = "A(i,j) = B(i,k) * C(k,j)",
                   .types = {ScalarType::Float32, ScalarType::Float64, ScalarType::Complex64, ScalarType::Complex128},
                   .run = {}};
  auto find = [](const Libraries& libraries) {
    std::shared_ptr<const Blas> blas = Blas::load(libraries.blas);
    return FoundRoutine{[blas](const LeafPiece& piece) { multiply(*blas, piece); }, "BLAS, " + blas->file};
  };
  return {Routine(std::move(gemm), find)};
}

}  // namespace spdistal::routine
