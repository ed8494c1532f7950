// The part of BLAS that is used, loaded when a statement asks for it: one build runs with and without it.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

namespace spdistal::routine {

/// The functions of Fortran, by the names they have there. Whole numbers are of 64 bits: a library with narrower ones reads their
/// lower half, which comes first on the processors that spdistal runs on. The lengths of texts come last.
struct Blas {
  using Gemm = void (*)(const char* transpose_a, const char* transpose_b, const int64_t* m, const int64_t* n,
                        const int64_t* k, const void* alpha, const void* a, const int64_t* lda, const void* b,
                        const int64_t* ldb, const void* beta, void* c, const int64_t* ldc, size_t, size_t);
  Gemm sgemm_, dgemm_, cgemm_, zgemm_;
  /// How many threads it uses from now on; nothing where it has none.
  std::function<void(int threads)> use_threads;
  std::string file;

  /// The library of this file, or the first that the loader finds. Throws UserError with what was looked for.
  static std::shared_ptr<const Blas> load(const std::string& file);
};

}  // namespace spdistal::routine
