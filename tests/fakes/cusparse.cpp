// The part of cuSPARSE and cuBLAS that leaf routines use, over memory of the host: a library to be loaded in the place of NVIDIA's, which
// computes as its documentation says and refuses (with a status other than 0) what that does.
#include <complex>
#include <cstddef>
#include <cstdint>
#include <functional>

namespace {

struct Sparse {
  int64_t rows, columns, stored;
  const void *pos, *crd;
  void* values;
  int pos_type, crd_type, type;
};
struct DenseVector {
  int64_t size;
  void* values;
  int type;
};
struct DenseMatrix {
  int64_t rows, columns, leading;
  void* values;
  int type, order;
};

constexpr int ok = 0, invalid = 3, by_columns = 1, by_rows = 2;

int64_t index_at(const void* array, int type, int64_t k) {
  return type == 2 ? static_cast<const int32_t*>(array)[k] : static_cast<const int64_t*>(array)[k];
}

template <class F>
int typed(int type, F&& f) {
  switch (type) {
    case 0: return f(float());
    case 1: return f(double());
    case 4: return f(std::complex<float>());
    case 5: return f(std::complex<double>());
    default: return invalid;
  }
}

// An element of op(matrix).
template <class T>
T& at(const DenseMatrix& m, int op, int64_t row, int64_t column) {
  if (op != 0) std::swap(row, column);
  return static_cast<T*>(m.values)[m.order == by_rows ? row * m.leading + column : row + column * m.leading];
}
int64_t rows_of(const DenseMatrix& m, int op) { return op == 0 ? m.rows : m.columns; }
int64_t columns_of(const DenseMatrix& m, int op) { return op == 0 ? m.columns : m.rows; }

// False where a coordinate lies beyond the matrix.
bool each_stored(const Sparse& m, const std::function<void(int64_t, int64_t, int64_t)>& f) {
  if (index_at(m.pos, m.pos_type, 0) != 0 || index_at(m.pos, m.pos_type, m.rows) != m.stored) return false;
  for (int64_t row = 0; row < m.rows; row++)
    for (int64_t p = index_at(m.pos, m.pos_type, row); p < index_at(m.pos, m.pos_type, row + 1); p++) {
      int64_t column = index_at(m.crd, m.crd_type, p);
      if (column < 0 || column >= m.columns) return false;
      f(row, column, p);
    }
  return true;
}

template <class T>
void scale(T& value, const void* beta) {
  T by = *static_cast<const T*>(beta);
  value = by == T(0) ? T(0) : by * value;
}

template <class T>
int dgmm(int side, int m, int n, const void* a, int lda, const void* x, int incx, void* c, int ldc) {
  if (side != 0 || n != 1 || lda < m || ldc < m || incx != 1) return invalid;
  for (int k = 0; k < m; k++) static_cast<T*>(c)[k] = static_cast<const T*>(a)[k] * static_cast<const T*>(x)[k];
  return ok;
}
template <class T>
int axpy(int n, const void* alpha, const void* x, int incx, void* y, int incy) {
  if (incx != 1 || incy != 1) return invalid;
  for (int k = 0; k < n; k++) static_cast<T*>(y)[k] += *static_cast<const T*>(alpha) * static_cast<const T*>(x)[k];
  return ok;
}

int started = 0;

}  // namespace

extern "C" {

int cusparseCreate(void** handle) { return *handle = &started, ok; }
int cusparseCreateCsr(void** out, int64_t rows, int64_t columns, int64_t stored, void* pos, void* crd, void* values,
                      int pos_type, int crd_type, int base, int type) {
  if (rows < 0 || columns < 0 || base != 0 || pos_type < 2 || crd_type < 2) return invalid;
  return *out = new Sparse{rows, columns, stored, pos, crd, values, pos_type, crd_type, type}, ok;
}
int cusparseDestroySpMat(void* m) { return delete static_cast<Sparse*>(m), ok; }
int cusparseSpMatSetValues(void* m, void* values) { return static_cast<Sparse*>(m)->values = values, ok; }
int cusparseCreateDnVec(void** out, int64_t size, void* values, int type) {
  return *out = new DenseVector{size, values, type}, ok;
}
int cusparseDestroyDnVec(void* v) { return delete static_cast<DenseVector*>(v), ok; }
int cusparseDnVecSetValues(void* v, void* values) { return static_cast<DenseVector*>(v)->values = values, ok; }
int cusparseCreateDnMat(void** out, int64_t rows, int64_t columns, int64_t leading, void* values, int type, int order) {
  if (order != by_rows && order != by_columns) return invalid;
  if (leading < (order == by_rows ? columns : rows)) return invalid;
  return *out = new DenseMatrix{rows, columns, leading, values, type, order}, ok;
}
int cusparseDestroyDnMat(void* m) { return delete static_cast<DenseMatrix*>(m), ok; }
int cusparseDnMatSetValues(void* m, void* values) { return static_cast<DenseMatrix*>(m)->values = values, ok; }

int cusparseSpMV_bufferSize(void*, int, const void*, void*, void*, const void*, void*, int, int, size_t* bytes) {
  return *bytes = 100, ok;
}
int cusparseSpMV(void* handle, int op, const void* alpha, void* matrix, void* x, const void* beta, void* y, int type,
                 int, void* room) {
  const auto& A = *static_cast<Sparse*>(matrix);
  const auto &from = *static_cast<DenseVector*>(x), &to = *static_cast<DenseVector*>(y);
  if (handle != &started || op != 0 || !room || from.size != A.columns || to.size != A.rows) return invalid;
  return typed(type, [&](auto zero) {
    using T = decltype(zero);
    for (int64_t k = 0; k < to.size; k++) scale(static_cast<T*>(to.values)[k], beta);
    return each_stored(A,
                       [&](int64_t row, int64_t column, int64_t p) {
                         static_cast<T*>(to.values)[row] += *static_cast<const T*>(alpha) *
                                                            static_cast<T*>(A.values)[p] *
                                                            static_cast<T*>(from.values)[column];
                       })
               ? ok
               : invalid;
  });
}

int cusparseSpMM_bufferSize(void*, int, int, const void*, void*, void*, const void*, void*, int, int, size_t* bytes) {
  return *bytes = 0, ok;
}
int cusparseSpMM(void* handle, int op, int op_x, const void* alpha, void* matrix, void* x, const void* beta, void* y,
                 int type, int, void*) {
  const auto& A = *static_cast<Sparse*>(matrix);
  const auto &from = *static_cast<DenseMatrix*>(x), &to = *static_cast<DenseMatrix*>(y);
  if (handle != &started || op != 0 || rows_of(from, op_x) != A.columns || to.rows != A.rows ||
      to.columns != columns_of(from, op_x) || from.order != to.order)
    return invalid;
  return typed(type, [&](auto zero) {
    using T = decltype(zero);
    for (int64_t i = 0; i < to.rows; i++)
      for (int64_t j = 0; j < to.columns; j++) scale(at<T>(to, 0, i, j), beta);
    return each_stored(A,
                       [&](int64_t row, int64_t column, int64_t p) {
                         for (int64_t j = 0; j < to.columns; j++)
                           at<T>(to, 0, row, j) += *static_cast<const T*>(alpha) * static_cast<T*>(A.values)[p] *
                                                   at<T>(from, op_x, column, j);
                       })
               ? ok
               : invalid;
  });
}

int cusparseSDDMM_bufferSize(void*, int, int, const void*, void*, void*, const void*, void*, int, int, size_t* bytes) {
  return *bytes = 1, ok;
}
int cusparseSDDMM(void* handle, int op_x, int op_y, const void* alpha, void* x, void* y, const void* beta, void* matrix,
                  int type, int, void*) {
  const auto& C = *static_cast<Sparse*>(matrix);
  const auto &A = *static_cast<DenseMatrix*>(x), &B = *static_cast<DenseMatrix*>(y);
  if (handle != &started || rows_of(A, op_x) != C.rows || columns_of(B, op_y) != C.columns ||
      columns_of(A, op_x) != rows_of(B, op_y))
    return invalid;
  return typed(type, [&](auto zero) {
    using T = decltype(zero);
    return each_stored(C,
                       [&](int64_t row, int64_t column, int64_t p) {
                         T sum(0);
                         for (int64_t k = 0; k < columns_of(A, op_x); k++)
                           sum += at<T>(A, op_x, row, k) * at<T>(B, op_y, k, column);
                         T& value = static_cast<T*>(C.values)[p];
                         scale(value, beta);
                         value += *static_cast<const T*>(alpha) * sum;
                       })
               ? ok
               : invalid;
  });
}

int cublasCreate_v2(void** handle) { return *handle = &started, ok; }
int cublasSdgmm(void*, int side, int m, int n, const void* a, int lda, const void* x, int incx, void* c, int ldc) {
  return dgmm<float>(side, m, n, a, lda, x, incx, c, ldc);
}
int cublasDdgmm(void*, int side, int m, int n, const void* a, int lda, const void* x, int incx, void* c, int ldc) {
  return dgmm<double>(side, m, n, a, lda, x, incx, c, ldc);
}
int cublasCdgmm(void*, int side, int m, int n, const void* a, int lda, const void* x, int incx, void* c, int ldc) {
  return dgmm<std::complex<float>>(side, m, n, a, lda, x, incx, c, ldc);
}
int cublasZdgmm(void*, int side, int m, int n, const void* a, int lda, const void* x, int incx, void* c, int ldc) {
  return dgmm<std::complex<double>>(side, m, n, a, lda, x, incx, c, ldc);
}
int cublasSaxpy_v2(void*, int n, const void* alpha, const void* x, int incx, void* y, int incy) {
  return axpy<float>(n, alpha, x, incx, y, incy);
}
int cublasDaxpy_v2(void*, int n, const void* alpha, const void* x, int incx, void* y, int incy) {
  return axpy<double>(n, alpha, x, incx, y, incy);
}
int cublasCaxpy_v2(void*, int n, const void* alpha, const void* x, int incx, void* y, int incy) {
  return axpy<std::complex<float>>(n, alpha, x, incx, y, incy);
}
int cublasZaxpy_v2(void*, int n, const void* alpha, const void* x, int incx, void* y, int incy) {
  return axpy<std::complex<double>>(n, alpha, x, incx, y, incy);
}
}
