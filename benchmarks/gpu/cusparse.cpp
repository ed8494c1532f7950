#include "gpu/cusparse.hpp"

#include <dlfcn.h>

#include <stdexcept>
#include <string>

#include "memory/buffer.hpp"

namespace spdistal::bench {
namespace {

// The constants of cusparse.h and library_types.h that are used.
constexpr int none = 0, double_precision = 1, index32 = 2, from_zero = 0, by_rows = 2, by_columns = 1;
constexpr int spmv_algorithms[] = {0, 2, 3}, spmm_algorithms[] = {0, 4, 6, 12};
const double one = 1, zero = 0;

void check(int status, const char* what) {
  if (status != 0) throw std::runtime_error(std::string("cuSPARSE failed: ") + what + " " + std::to_string(status));
}

std::shared_ptr<memory::Buffer> scratch(size_t bytes) {
  return std::make_shared<memory::Buffer>(memory::Buffer::uninitialized(bytes, memory::device(0)));
}

}  // namespace

struct Cusparse::Functions {
  using D = void*;
  int (*create)(void** handle);
  int (*csr)(D*, int64_t rows, int64_t columns, int64_t stored, void* pos, void* crd, void* values, int, int, int, int);
  int (*vector)(D*, int64_t size, void* values, int type);
  int (*matrix)(D*, int64_t rows, int64_t columns, int64_t leading, void* values, int type, int order);
  int (*spmv_size)(void*, int, const void*, D, D, const void*, D, int, int, size_t*);
  int (*spmv)(void*, int, const void*, D, D, const void*, D, int, int, void*);
  int (*spmm_size)(void*, int, int, const void*, D, D, const void*, D, int, int, size_t*);
  int (*spmm_prepare)(void*, int, int, const void*, D, D, const void*, D, int, int, void*);
  int (*spmm)(void*, int, int, const void*, D, D, const void*, D, int, int, void*);
  int (*sddmm_size)(void*, int, int, const void*, D, D, const void*, D, int, int, size_t*);
  int (*sddmm_prepare)(void*, int, int, const void*, D, D, const void*, D, int, int, void*);
  int (*sddmm)(void*, int, int, const void*, D, D, const void*, D, int, int, void*);

  bool load(void* library) {
    auto get = [&](auto& function, const char* name) {
      function = reinterpret_cast<std::decay_t<decltype(function)>>(dlsym(library, name));
      return function != nullptr;
    };
    return get(create, "cusparseCreate") && get(csr, "cusparseCreateCsr") && get(vector, "cusparseCreateDnVec") &&
           get(matrix, "cusparseCreateDnMat") && get(spmv_size, "cusparseSpMV_bufferSize") &&
           get(spmv, "cusparseSpMV") && get(spmm_size, "cusparseSpMM_bufferSize") &&
           get(spmm_prepare, "cusparseSpMM_preprocess") && get(spmm, "cusparseSpMM") &&
           get(sddmm_size, "cusparseSDDMM_bufferSize") && get(sddmm_prepare, "cusparseSDDMM_preprocess") &&
           get(sddmm, "cusparseSDDMM");
  }
  D sparse(const DeviceMatrix& m) const {
    D out = nullptr;
    check(csr(&out, m.rows, m.columns, m.stored, m.pos, m.crd, m.values, index32, index32, from_zero, double_precision),
          "a matrix");
    return out;
  }
  D dense(int64_t rows, int64_t columns, void* values, int order) const {
    D out = nullptr;
    check(matrix(&out, rows, columns, order == by_rows ? columns : rows, values, double_precision, order), "a matrix");
    return out;
  }
};

std::optional<Cusparse> Cusparse::find() {
  for (const char* name : {"libcusparse.so", "libcusparse.so.12", "/usr/local/cuda/lib64/libcusparse.so"}) {
    void* library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    auto functions = std::make_shared<Functions>();
    if (!library || !functions->load(library)) continue;
    Cusparse out;
    out.functions_ = functions;
    check(functions->create(&out.handle_), "a handle");
    return out;
  }
  return {};
}

Cusparse::Run Cusparse::spmv(const DeviceMatrix& B, void* c, void* a, int way) const {
  auto f = functions_;
  void *matrix = f->sparse(B), *x = nullptr, *y = nullptr, *handle = handle_;
  check(f->vector(&x, B.columns, c, double_precision), "a vector");
  check(f->vector(&y, B.rows, a, double_precision), "a vector");
  int algorithm = spmv_algorithms[way];
  size_t bytes = 0;
  check(f->spmv_size(handle, none, &one, matrix, x, &zero, y, double_precision, algorithm, &bytes), "SpMV");
  auto room = scratch(bytes);
  return [=] {
    check(f->spmv(handle, none, &one, matrix, x, &zero, y, double_precision, algorithm, room->data()), "SpMV");
  };
}

Cusparse::Run Cusparse::spmm(const DeviceMatrix& B, void* C, void* A, int64_t columns, int way) const {
  auto f = functions_;
  void *matrix = f->sparse(B), *x = f->dense(B.columns, columns, C, by_rows),
       *y = f->dense(B.rows, columns, A, by_rows);
  void* handle = handle_;
  int algorithm = spmm_algorithms[way];
  size_t bytes = 0;
  check(f->spmm_size(handle, none, none, &one, matrix, x, &zero, y, double_precision, algorithm, &bytes), "SpMM");
  auto room = scratch(bytes);
  f->spmm_prepare(handle, none, none, &one, matrix, x, &zero, y, double_precision, algorithm, room->data());
  return [=] {
    check(f->spmm(handle, none, none, &one, matrix, x, &zero, y, double_precision, algorithm, room->data()), "SpMM");
  };
}

Cusparse::Run Cusparse::sddmm(const DeviceMatrix& A, void* C, void* D, int64_t inner) const {
  auto f = functions_;
  void *result = f->sparse(A), *x = f->dense(A.rows, inner, C, by_rows), *y = f->dense(inner, A.columns, D, by_columns);
  void* handle = handle_;
  size_t bytes = 0;
  check(f->sddmm_size(handle, none, none, &one, x, y, &zero, result, double_precision, 0, &bytes), "SDDMM");
  auto room = scratch(bytes);
  f->sddmm_prepare(handle, none, none, &one, x, y, &zero, result, double_precision, 0, room->data());
  return [=] {
    check(f->sddmm(handle, none, none, &one, x, y, &zero, result, double_precision, 0, room->data()), "SDDMM");
  };
}

}  // namespace spdistal::bench
