// NVIDIA's library of sparse kernels, loaded where it is there: what generated kernels are measured against.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>

#include "memory/buffer.hpp"

namespace spdistal::bench {

/// A matrix in CSR in memory of the GPU, of doubles with indices of 32 bits.
struct DeviceMatrix {
  int64_t rows, columns, stored;
  void *pos, *crd, *values;
};

class Cusparse {
 public:
  /// Nothing where the library is not there.
  static std::optional<Cusparse> find();

  // Each makes ready and gives what runs once. Dense matrices are stored by rows. The best of the library's ways is for the
  // caller to find: there are `ways` of them.
  static constexpr int spmv_ways = 3, spmm_ways = 4;
  using Run = std::function<void()>;
  Run spmv(const DeviceMatrix& B, void* c, void* a, int way) const;
  Run spmm(const DeviceMatrix& B, void* C, void* A, int64_t columns, int way) const;
  /// Values of `A` become those of (C D) where it stores any; D is stored by columns.
  Run sddmm(const DeviceMatrix& A, void* C, void* D, int64_t inner) const;
  /// A sparse result of a run: its memory is taken in it.
  struct Made {
    int64_t stored = 0;
    std::shared_ptr<memory::Buffer> pos, crd, values;
  };
  /// B + C, put into `made`.
  Run add(const DeviceMatrix& B, const DeviceMatrix& C, std::shared_ptr<Made> made) const;
  /// B C, put into `made`.
  Run multiply(const DeviceMatrix& B, const DeviceMatrix& C, std::shared_ptr<Made> made) const;

 private:
  struct Functions;
  std::shared_ptr<const Functions> functions_;
  void* handle_ = nullptr;
};

}  // namespace spdistal::bench
