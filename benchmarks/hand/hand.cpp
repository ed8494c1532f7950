#include "hand.hpp"

#include <omp.h>
#include <sys/mman.h>

#include <algorithm>
#include <climits>
#include <vector>

namespace hand {
namespace {

// Explicit registers: the compiler leaves an array of 32 sums in memory, three to four times slower.
typedef double Vec __attribute__((vector_size(64), aligned(8)));

template <class T>
T* room(Memory& memory, int64_t count) {
  return static_cast<T*>(memory.room(size_t(count) * sizeof(T)));
}

// How many rows a thread takes at a time: fewer where there would not be eight turns for each.
int turn(int64_t rows, int64_t most) { return int(std::clamp<int64_t>(rows / (8 * omp_get_max_threads()), 1, most)); }

}  // namespace

void* Memory::room(size_t bytes) {
  if (bytes <= capacity_) return data_.get();
  constexpr size_t huge = size_t(2) << 20;
  capacity_ = (bytes + huge) / huge * huge;
  data_.reset();
  data_.reset(std::aligned_alloc(huge, capacity_));
  madvise(data_.get(), capacity_, MADV_HUGEPAGE);
  return data_.get();
}

void spmv(const Csr& B, const double* c, Made& a) {
  double* out = a.vals = room<double>(a.vals_memory, B.rows);
#pragma omp parallel for schedule(dynamic, turn(B.rows, 4096))
  for (int64_t i = 0; i < B.rows; i++) {
    double sum = 0;
    for (int32_t p = B.pos[i]; p < B.pos[i + 1]; p++) sum += B.vals[p] * c[B.crd[p]];
    out[i] = sum;
  }
}

void spmm(const Csr& B, const double* C, Made& A) {
  double* out = A.vals = room<double>(A.vals_memory, B.rows * columns);
#pragma omp parallel for schedule(dynamic, turn(B.rows, 1024))
  for (int64_t i = 0; i < B.rows; i++) {
    Vec s0{}, s1{}, s2{}, s3{};
    for (int32_t p = B.pos[i]; p < B.pos[i + 1]; p++) {
      const double b = B.vals[p];
      auto* c = reinterpret_cast<const Vec*>(C + int64_t(B.crd[p]) * columns);
      s0 += b * c[0], s1 += b * c[1], s2 += b * c[2], s3 += b * c[3];
    }
    auto* row = reinterpret_cast<Vec*>(out + i * columns);
    row[0] = s0, row[1] = s1, row[2] = s2, row[3] = s3;
  }
}

template <int64_t block>
void spmv(const Bcsr& B, const double* c, Made& a) {
  double* out = a.vals = room<double>(a.vals_memory, B.rows * block);
#pragma omp parallel for schedule(dynamic, turn(B.rows, 1024))
  for (int64_t i = 0; i < B.rows; i++) {
    double s[block] = {};
    for (int32_t p = B.pos[i]; p < B.pos[i + 1]; p++) {
      const double *b = B.vals + int64_t(p) * block * block, *x = c + int64_t(B.crd[p]) * block;
#pragma GCC unroll 8
      for (int64_t r = 0; r < block; r++) {
        double sum = 0;
#pragma GCC unroll 8
        for (int64_t k = 0; k < block; k++) sum += b[r * block + k] * x[k];
        s[r] += sum;
      }
    }
    for (int64_t r = 0; r < block; r++) out[i * block + r] = s[r];
  }
}
template void spmv<4>(const Bcsr&, const double*, Made&);
template void spmv<8>(const Bcsr&, const double*, Made&);

template <int64_t block>
void spmm(const Bcsr& B, const double* C, Made& A) {
  double* out = A.vals = room<double>(A.vals_memory, B.rows * block * columns);
#pragma omp parallel for schedule(dynamic, turn(B.rows, 256))
  for (int64_t i = 0; i < B.rows; i++) {
    Vec s[block][4] = {};
    for (int32_t p = B.pos[i]; p < B.pos[i + 1]; p++) {
      const double* b = B.vals + int64_t(p) * block * block;
      auto* c = reinterpret_cast<const Vec*>(C + int64_t(B.crd[p]) * block * columns);
      for (int64_t k = 0; k < block; k++)
        for (int64_t r = 0; r < block; r++)
          for (int64_t v = 0; v < 4; v++) s[r][v] += b[r * block + k] * c[k * 4 + v];
    }
    auto* rows = reinterpret_cast<Vec*>(out + i * block * columns);
    for (int64_t r = 0; r < block; r++)
      for (int64_t v = 0; v < 4; v++) rows[r * 4 + v] = s[r][v];
  }
}
template void spmm<4>(const Bcsr&, const double*, Made&);
template void spmm<8>(const Bcsr&, const double*, Made&);

namespace {

// Shares of so many non-zeros: f(begin, end).
template <class F>
void in_shares(int64_t stored, F&& f) {
  constexpr int64_t size = 2048;
#pragma omp parallel for schedule(static)
  for (int64_t share = 0; share < (stored + size - 1) / size; share++)
    f(share * size, std::min((share + 1) * size, stored));
}

// The rows of every share: f(row, first, last, whole).
template <class F>
void by_nonzeros(const Csr& B, F&& f) {
  in_shares(B.pos[B.rows], [&](int64_t begin, int64_t end) {
    int64_t i = std::upper_bound(B.pos, B.pos + B.rows + 1, int32_t(begin)) - B.pos - 1;
    for (; B.pos[i] < end; i++) {
      const int64_t first = B.pos[i], last = B.pos[i + 1];
      f(i, std::max(first, begin), std::min(last, end), first >= begin && last <= end);
    }
  });
}

// Writes a row that is whole, or adds to one that is shared.
void write_row(double* out, Vec s0, Vec s1, Vec s2, Vec s3, bool whole) {
  if (whole) {
    auto* row = reinterpret_cast<Vec*>(out);
    row[0] = s0, row[1] = s1, row[2] = s2, row[3] = s3;
    return;
  }
  double sums[columns];
  for (int k = 0; k < 8; k++) sums[k] = s0[k], sums[8 + k] = s1[k], sums[16 + k] = s2[k], sums[24 + k] = s3[k];
  for (int64_t k = 0; k < columns; k++) {
#pragma omp atomic
    out[k] += sums[k];
  }
}

void zero(double* out, int64_t count) {
#pragma omp parallel for schedule(static)
  for (int64_t k = 0; k < count; k++) out[k] = 0;
}

}  // namespace

void spmv_by_nonzeros(const Csr& B, const double* c, Made& a) {
  double* out = a.vals = room<double>(a.vals_memory, B.rows);
  zero(out, B.rows);
  by_nonzeros(B, [&](int64_t i, int64_t first, int64_t last, bool whole) {
    double sum = 0;
    for (int64_t p = first; p < last; p++) sum += B.vals[p] * c[B.crd[p]];
    if (whole) {
      out[i] = sum;
    } else {
#pragma omp atomic
      out[i] += sum;
    }
  });
}

void spmm_by_nonzeros(const Csr& B, const double* C, Made& A) {
  double* out = A.vals = room<double>(A.vals_memory, B.rows * columns);
  zero(out, B.rows * columns);
  by_nonzeros(B, [&](int64_t i, int64_t first, int64_t last, bool whole) {
    Vec s0{}, s1{}, s2{}, s3{};
    for (int64_t p = first; p < last; p++) {
      const double b = B.vals[p];
      auto* c = reinterpret_cast<const Vec*>(C + int64_t(B.crd[p]) * columns);
      s0 += b * c[0], s1 += b * c[1], s2 += b * c[2], s3 += b * c[3];
    }
    write_row(out + i * columns, s0, s1, s2, s3, whole);
  });
}

void spmv_by_nonzeros(const Coo& B, const double* c, Made& a) {
  double* out = a.vals = room<double>(a.vals_memory, B.rows);
  zero(out, B.rows);
  in_shares(B.stored, [&](int64_t begin, int64_t end) {
    for (int64_t p = begin; p < end;) {
      const int64_t i = B.row[p];
      bool whole = p > begin || p == 0 || B.row[p - 1] != i;
      double sum = 0;
      for (; p < end && B.row[p] == i; p++) sum += B.vals[p] * c[B.col[p]];
      whole &= p < end || p == B.stored || B.row[p] != i;
      if (whole) {
        out[i] = sum;
      } else {
#pragma omp atomic
        out[i] += sum;
      }
    }
  });
}

void sddmm(const Csr& B, const double* C, const double* D, Made& A) {
  double* out = A.vals = room<double>(A.vals_memory, B.pos[B.rows]);
#pragma omp parallel for schedule(dynamic, turn(B.rows, 1024))
  for (int64_t i = 0; i < B.rows; i++)
    for (int32_t p = B.pos[i]; p < B.pos[i + 1]; p++) {
      const double *c = C + i * columns, *d = D + int64_t(B.crd[p]) * columns;
      double sum = 0;
#pragma omp simd reduction(+ : sum)
      for (int64_t k = 0; k < columns; k++) sum += c[k] * d[k];
      out[p] = B.vals[p] * sum;
    }
}

void spadd3(const Csr& B, const Csr& C, const Csr& D, Made& A) {
  const int64_t n = B.rows;
  int32_t* pos = A.pos = room<int32_t>(A.pos_memory, n + 1);
  auto merge = [&](int64_t i, auto&& emit) {
    int32_t b = B.pos[i], be = B.pos[i + 1], c = C.pos[i], ce = C.pos[i + 1], d = D.pos[i], de = D.pos[i + 1];
    constexpr int32_t none = INT_MAX;
    int32_t bj = b < be ? B.crd[b] : none, cj = c < ce ? C.crd[c] : none, dj = d < de ? D.crd[d] : none;
    while (true) {
      int32_t j = std::min(bj, std::min(cj, dj));
      if (j == none) break;
      double sum = 0;
      if (bj == j) sum += B.vals[b++], bj = b < be ? B.crd[b] : none;
      if (cj == j) sum += C.vals[c++], cj = c < ce ? C.crd[c] : none;
      if (dj == j) sum += D.vals[d++], dj = d < de ? D.crd[d] : none;
      emit(j, sum);
    }
  };
  pos[0] = 0;
#pragma omp parallel for schedule(dynamic, turn(n, 1024))
  for (int64_t i = 0; i < n; i++) {
    int32_t count = 0;
    merge(i, [&](int32_t, double) { count++; });
    pos[i + 1] = count;
  }
  for (int64_t i = 0; i < n; i++) pos[i + 1] += pos[i];
  int32_t* crd = A.crd = room<int32_t>(A.crd_memory, pos[n]);
  double* vals = A.vals = room<double>(A.vals_memory, pos[n]);
#pragma omp parallel for schedule(dynamic, turn(n, 1024))
  for (int64_t i = 0; i < n; i++) {
    int32_t p = pos[i];
    merge(i, [&](int32_t j, double sum) { crd[p] = j, vals[p++] = sum; });
  }
}

void spttv(const Csf& B, const double* c, Made& A) {
  double* out = A.vals = room<double>(A.vals_memory, B.pos1[B.rows]);
#pragma omp parallel for schedule(dynamic, turn(B.rows, 64))
  for (int64_t i = 0; i < B.rows; i++)
    for (int32_t f = B.pos1[i]; f < B.pos1[i + 1]; f++) {
      double sum = 0;
      for (int32_t e = B.pos2[f]; e < B.pos2[f + 1]; e++) sum += B.vals[e] * c[B.crd2[e]];
      out[f] = sum;
    }
}

void spmttkrp(const Csf& B, const double* C, const double* D, Made& A) {
  double* out = A.vals = room<double>(A.vals_memory, B.rows * columns);
#pragma omp parallel for schedule(dynamic, turn(B.rows, 64))
  for (int64_t i = 0; i < B.rows; i++) {
    Vec s0{}, s1{}, s2{}, s3{};
    for (int32_t f = B.pos1[i]; f < B.pos1[i + 1]; f++) {
      Vec w0{}, w1{}, w2{}, w3{};
      for (int32_t e = B.pos2[f]; e < B.pos2[f + 1]; e++) {
        const double b = B.vals[e];
        auto* d = reinterpret_cast<const Vec*>(D + int64_t(B.crd2[e]) * columns);
        w0 += b * d[0], w1 += b * d[1], w2 += b * d[2], w3 += b * d[3];
      }
      auto* c = reinterpret_cast<const Vec*>(C + int64_t(B.crd1[f]) * columns);
      s0 += w0 * c[0], s1 += w1 * c[1], s2 += w2 * c[2], s3 += w3 * c[3];
    }
    auto* row = reinterpret_cast<Vec*>(out + i * columns);
    row[0] = s0, row[1] = s1, row[2] = s2, row[3] = s3;
  }
}

void spmttkrp_by_nonzeros(const Csf& B, const double* C, const double* D, Made& A) {
  double* out = A.vals = room<double>(A.vals_memory, B.rows * columns);
  zero(out, B.rows * columns);
  const int64_t tubes = B.pos1[B.rows];
  in_shares(B.pos2[tubes], [&](int64_t begin, int64_t end) {
    int64_t f = std::upper_bound(B.pos2, B.pos2 + tubes + 1, int32_t(begin)) - B.pos2 - 1;
    int64_t i = std::upper_bound(B.pos1, B.pos1 + B.rows + 1, int32_t(f)) - B.pos1 - 1;
    for (; i < B.rows && B.pos2[B.pos1[i]] < end; i++) {
      const bool whole = B.pos2[B.pos1[i]] >= begin && B.pos2[B.pos1[i + 1]] <= end;
      Vec s0{}, s1{}, s2{}, s3{};
      for (; f < B.pos1[i + 1] && B.pos2[f] < end; f++) {
        Vec w0{}, w1{}, w2{}, w3{};
        for (int64_t e = std::max<int64_t>(B.pos2[f], begin); e < std::min<int64_t>(B.pos2[f + 1], end); e++) {
          const double b = B.vals[e];
          auto* d = reinterpret_cast<const Vec*>(D + int64_t(B.crd2[e]) * columns);
          w0 += b * d[0], w1 += b * d[1], w2 += b * d[2], w3 += b * d[3];
        }
        auto* c = reinterpret_cast<const Vec*>(C + int64_t(B.crd1[f]) * columns);
        s0 += w0 * c[0], s1 += w1 * c[1], s2 += w2 * c[2], s3 += w3 * c[3];
      }
      write_row(out + i * columns, s0, s1, s2, s3, whole);
    }
  });
}

void spgemm(const Csr& B, const Csr& C, Made& A) {
  const int64_t n = B.rows, m = C.cols;
  int32_t* pos = A.pos = room<int32_t>(A.pos_memory, n + 1);
  pos[0] = 0;
#pragma omp parallel
  {
    std::vector<int32_t> seen(size_t(m), -1);
#pragma omp for schedule(dynamic, turn(n, 256))
    for (int64_t i = 0; i < n; i++) {
      int32_t count = 0;
      for (int32_t p = B.pos[i]; p < B.pos[i + 1]; p++)
        for (int32_t q = C.pos[B.crd[p]]; q < C.pos[B.crd[p] + 1]; q++)
          if (int32_t& mark = seen[size_t(C.crd[q])]; mark != int32_t(i)) mark = int32_t(i), count++;
      pos[i + 1] = count;
    }
  }
  for (int64_t i = 0; i < n; i++) pos[i + 1] += pos[i];
  int32_t* crd = A.crd = room<int32_t>(A.crd_memory, pos[n]);
  double* vals = A.vals = room<double>(A.vals_memory, pos[n]);
#pragma omp parallel
  {
    std::vector<int32_t> seen(size_t(m), -1);
    std::vector<double> row(static_cast<size_t>(m));
#pragma omp for schedule(dynamic, turn(n, 256))
    for (int64_t i = 0; i < n; i++) {
      int32_t end = pos[i];
      for (int32_t p = B.pos[i]; p < B.pos[i + 1]; p++)
        for (int32_t q = C.pos[B.crd[p]]; q < C.pos[B.crd[p] + 1]; q++) {
          size_t j = size_t(C.crd[q]);
          double product = B.vals[p] * C.vals[q];
          if (seen[j] != int32_t(i)) seen[j] = int32_t(i), crd[end++] = int32_t(j), row[j] = product;
          else row[j] += product;
        }
      std::sort(crd + pos[i], crd + end);
      for (int32_t p = pos[i]; p < end; p++) vals[p] = row[size_t(crd[p])];
    }
  }
}

namespace {

// Counts, adds them up, fills with pos as cursors, and moves those back.
void transpose_alone(const Csr& B, Made& A) {
  int32_t *pos = A.pos, *crd = A.crd;
  double* vals = A.vals;
  std::fill(pos, pos + B.cols + 1, 0);
  for (int64_t p = 0; p < B.pos[B.rows]; p++) pos[B.crd[p] + 1]++;
  for (int64_t j = 0; j < B.cols; j++) pos[j + 1] += pos[j];
  for (int64_t i = 0; i < B.rows; i++)
    for (int32_t p = B.pos[i]; p < B.pos[i + 1]; p++) {
      const int32_t to = pos[B.crd[p]]++;
      crd[to] = int32_t(i), vals[to] = B.vals[p];
    }
  for (int64_t j = B.cols; j > 0; j--) pos[j] = pos[j - 1];
  pos[0] = 0;
}

}  // namespace

void transpose(const Csr& B, Made& A) {
  const int64_t n = B.cols, stored = B.pos[B.rows];
  int32_t* pos = A.pos = room<int32_t>(A.pos_memory, n + 1);
  int32_t* crd = A.crd = room<int32_t>(A.crd_memory, stored);
  double* vals = A.vals = room<double>(A.vals_memory, stored);
  if (omp_get_max_threads() == 1) return transpose_alone(B, A);
  // Every thread counts what its rows have.
  int32_t* counts = room<int32_t>(A.scratch, omp_get_max_threads() * n);
  std::vector<int32_t> sums(size_t(omp_get_max_threads()) + 1);
#pragma omp parallel
  {
    const int64_t t = omp_get_thread_num(), threads = omp_get_num_threads();
    auto row = [&](int64_t part) {
      return std::lower_bound(B.pos, B.pos + B.rows, int32_t(stored * part / threads)) - B.pos;
    };
    const int64_t begin = row(t), end = t + 1 == threads ? B.rows : row(t + 1);
    const int64_t first = n * t / threads, last = n * (t + 1) / threads;
    int32_t* mine = counts + t * n;
    std::fill(mine, mine + n, 0);
    for (int64_t p = B.pos[begin]; p < B.pos[end]; p++) mine[B.crd[p]]++;
#pragma omp barrier
    int32_t sum = 0;
    for (int64_t s = 0; s < threads; s++)
      for (int64_t j = first; j < last; j++) sum += counts[s * n + j];
    sums[size_t(t) + 1] = sum;
#pragma omp barrier
#pragma omp single
    for (int64_t s = 0; s < threads; s++) sums[size_t(s) + 1] += sums[size_t(s)];
    int32_t next = sums[size_t(t)];
    for (int64_t j = first; j < last; j++) {
      pos[j] = next;
      for (int64_t s = 0; s < threads; s++) {
        const int32_t here = counts[s * n + j];
        counts[s * n + j] = next;
        next += here;
      }
    }
#pragma omp barrier
    for (int64_t i = begin; i < end; i++)
      for (int32_t p = B.pos[i]; p < B.pos[i + 1]; p++) {
        const int32_t to = mine[B.crd[p]]++;
        crd[to] = int32_t(i), vals[to] = B.vals[p];
      }
  }
  pos[n] = int32_t(stored);
}

double triad(double* a, const double* b, const double* c, int64_t n, double s) {
  double start = omp_get_wtime();
#pragma omp parallel for schedule(static)
  for (int64_t i = 0; i < n; i++) a[i] = b[i] + s * c[i];
  return 24.0 * double(n) / (omp_get_wtime() - start);
}

}  // namespace hand
