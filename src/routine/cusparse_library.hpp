// The part of NVIDIA's cuSPARSE and cuBLAS that is used, loaded when a statement asks for it: nothing of CUDA is needed to build.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "spdistal/scalar_type.hpp"

namespace spdistal::routine {

/// The functions of cusparse.h, by the names they have there. Handles and descriptions are pointers, results 0 for success.
struct Cusparse {
  using Handle = void*;
  enum Operation : int { AsItIs = 0, Transposed = 1 };
  enum Order : int { ByColumns = 1, ByRows = 2 };
  static constexpr int from_zero = 0, default_algorithm = 0;
  /// cudaDataType and cusparseIndexType_t.
  static int number_of(ScalarType type);

  int (*cusparseCreate)(Handle*);
  int (*cusparseCreateCsr)(Handle*, int64_t rows, int64_t columns, int64_t stored, void* pos, void* crd, void* values,
                           int pos_type, int crd_type, int base, int type);
  int (*cusparseDestroySpMat)(Handle);
  int (*cusparseSpMatSetValues)(Handle, void* values);
  int (*cusparseCreateDnVec)(Handle*, int64_t size, void* values, int type);
  int (*cusparseDestroyDnVec)(Handle);
  int (*cusparseDnVecSetValues)(Handle, void* values);
  int (*cusparseCreateDnMat)(Handle*, int64_t rows, int64_t columns, int64_t leading, void* values, int type,
                             int order);
  int (*cusparseDestroyDnMat)(Handle);
  int (*cusparseDnMatSetValues)(Handle, void* values);
  // Handle of the library, operations, alpha, operands, beta, result, type, algorithm.
  int (*cusparseSpMV_bufferSize)(Handle, int, const void*, Handle, Handle, const void*, Handle, int, int, size_t*);
  int (*cusparseSpMV)(Handle, int, const void*, Handle, Handle, const void*, Handle, int, int, void*);
  int (*cusparseSpMM_bufferSize)(Handle, int, int, const void*, Handle, Handle, const void*, Handle, int, int, size_t*);
  int (*cusparseSpMM)(Handle, int, int, const void*, Handle, Handle, const void*, Handle, int, int, void*);
  int (*cusparseSDDMM_bufferSize)(Handle, int, int, const void*, Handle, Handle, const void*, Handle, int, int,
                                  size_t*);
  int (*cusparseSDDMM)(Handle, int, int, const void*, Handle, Handle, const void*, Handle, int, int, void*);
  std::string file;

  /// The library of this file, or the first that the loader finds. Throws UserError with what was looked for.
  static std::shared_ptr<const Cusparse> load(const std::string& file);
  /// Throws SystemError where something failed.
  static void check(int status, const char* what);
};

/// Products and sums of arrays, element by element, which cuSPARSE lacks.
struct Cublas {
  using Handle = void*;
  using Dgmm = int (*)(Handle, int side, int m, int n, const void* a, int lda, const void* x, int incx, void* c,
                       int ldc);
  using Axpy = int (*)(Handle, int n, const void* alpha, const void* x, int incx, void* y, int incy);
  int (*cublasCreate)(Handle*);
  Dgmm sdgmm, ddgmm, cdgmm, zdgmm;
  Axpy saxpy, daxpy, caxpy, zaxpy;

  /// As that of cuSPARSE.
  static std::shared_ptr<const Cublas> load(const std::string& file);
};

}  // namespace spdistal::routine
