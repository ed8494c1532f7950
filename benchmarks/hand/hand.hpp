// The kernels as a person would write them for these formats: what the compiled ones are measured against.
#pragma once
#include <cstdint>
#include <cstdlib>
#include <memory>

namespace hand {

constexpr int64_t columns = 32;

struct Csr {
  int64_t rows, cols;
  const int32_t *pos, *crd;
  const double* vals;
};

/// The same entries as a list of coordinates, sorted.
struct Coo {
  int64_t rows, stored;
  const int32_t *row, *col;
  const double* vals;
};

/// A tensor of order 3: rows dense, then two compressed levels.
struct Csf {
  int64_t rows;
  const int32_t *pos1, *crd1, *pos2, *crd2;
  const double* vals;
};

/// A matrix of dense blocks of as many rows as columns, block rows compressed.
struct Bcsr {
  int64_t rows;  // of blocks
  const int32_t *pos, *crd;
  const double* vals;
};

/// Memory that grows, is kept between runs, and stands on huge pages where it is large.
class Memory {
 public:
  void* room(size_t bytes);

 private:
  struct Free {
    void operator()(void* p) const { std::free(p); }
  };
  std::unique_ptr<void, Free> data_;
  size_t capacity_ = 0;
};

/// A result that the loop assembles.
struct Made {
  Memory pos_memory, crd_memory, vals_memory, scratch;
  int32_t *pos = nullptr, *crd = nullptr;
  double* vals = nullptr;
};

void spmv(const Csr& B, const double* c, Made& a);
void spmm(const Csr& B, const double* C, Made& A);
/// Block by block: of 4 rows and columns, or of 8.
template <int64_t block>
void spmv(const Bcsr& B, const double* c, Made& a);
template <int64_t block>
void spmm(const Bcsr& B, const double* C, Made& A);
/// The same in shares of 2048 non-zeros: rows that a share cuts are added to atomically.
void spmv_by_nonzeros(const Csr& B, const double* c, Made& a);
void spmv_by_nonzeros(const Coo& B, const double* c, Made& a);
void spmm_by_nonzeros(const Csr& B, const double* C, Made& A);
void spadd3(const Csr& B, const Csr& C, const Csr& D, Made& A);
/// D is stored by columns.
void sddmm(const Csr& B, const double* C, const double* D, Made& A);
void spttv(const Csf& B, const double* c, Made& A);
void spmttkrp(const Csf& B, const double* C, const double* D, Made& A);
void spmttkrp_by_nonzeros(const Csf& B, const double* C, const double* D, Made& A);
void spgemm(const Csr& B, const Csr& C, Made& A);
void transpose(const Csr& B, Made& A);

/// Bytes per second of a[i] = b[i] + s * c[i].
double triad(double* a, const double* b, const double* c, int64_t n, double s);

}  // namespace hand
