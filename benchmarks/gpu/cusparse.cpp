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
  using I = const int*;
  using V = const double*;
  int (*description)(D*);
  int (*add_size)(void*, int, int, V, D, int, V, I, I, V, D, int, V, I, I, D, V, I, I, size_t*);
  int (*add_count)(void*, int, int, D, int, I, I, D, int, I, I, D, int*, int*, void*);
  int (*add)(void*, int, int, V, D, int, V, I, I, V, D, int, V, I, I, D, double*, int*, int*, void*);
  int (*product)(D*);
  int (*product_destroy)(D);
  int (*product_estimate)(void*, int, int, const void*, D, D, const void*, D, int, int, D, size_t*, void*);
  int (*product_compute)(void*, int, int, const void*, D, D, const void*, D, int, int, D, size_t*, void*);
  int (*product_copy)(void*, int, int, const void*, D, D, const void*, D, int, int, D);
  int (*sizes)(D, int64_t*, int64_t*, int64_t*);
  int (*set_arrays)(D, void*, void*, void*);
  int (*destroy)(D);

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
           get(sddmm, "cusparseSDDMM") && get(description, "cusparseCreateMatDescr") &&
           get(add_size, "cusparseDcsrgeam2_bufferSizeExt") && get(add_count, "cusparseXcsrgeam2Nnz") &&
           get(add, "cusparseDcsrgeam2") && get(product, "cusparseSpGEMM_createDescr") &&
           get(product_destroy, "cusparseSpGEMM_destroyDescr") &&
           get(product_estimate, "cusparseSpGEMM_workEstimation") && get(product_compute, "cusparseSpGEMM_compute") &&
           get(product_copy, "cusparseSpGEMM_copy") && get(sizes, "cusparseSpMatGetSize") &&
           get(set_arrays, "cusparseCsrSetPointers") && get(destroy, "cusparseDestroySpMat");
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

Cusparse::Run Cusparse::add(const DeviceMatrix& B, const DeviceMatrix& C, std::shared_ptr<Made> made) const {
  auto f = functions_;
  void *handle = handle_, *description = nullptr;
  check(f->description(&description), "a description");
  return [=] {
    auto ints = [](void* data) { return static_cast<const int*>(data); };
    auto doubles = [](void* data) { return static_cast<const double*>(data); };
    int rows = int(B.rows), columns = int(B.columns), stored = 0;
    made->pos = scratch(size_t(rows + 1) * sizeof(int));
    auto* pos = reinterpret_cast<int*>(made->pos->data());
    size_t bytes = 0;
    check(f->add_size(handle, rows, columns, &one, description, int(B.stored), doubles(B.values), ints(B.pos),
                      ints(B.crd), &one, description, int(C.stored), doubles(C.values), ints(C.pos), ints(C.crd),
                      description, nullptr, pos, nullptr, &bytes),
          "csrgeam2");
    auto room = scratch(bytes);
    check(f->add_count(handle, rows, columns, description, int(B.stored), ints(B.pos), ints(B.crd), description,
                       int(C.stored), ints(C.pos), ints(C.crd), description, pos, &stored, room->data()),
          "csrgeam2");
    made->stored = stored;
    made->crd = scratch(size_t(stored) * sizeof(int));
    made->values = scratch(size_t(stored) * sizeof(double));
    check(f->add(handle, rows, columns, &one, description, int(B.stored), doubles(B.values), ints(B.pos), ints(B.crd),
                 &one, description, int(C.stored), doubles(C.values), ints(C.pos), ints(C.crd), description,
                 reinterpret_cast<double*>(made->values->data()), pos, reinterpret_cast<int*>(made->crd->data()),
                 room->data()),
          "csrgeam2");
  };
}

Cusparse::Run Cusparse::multiply(const DeviceMatrix& B, const DeviceMatrix& C, std::shared_ptr<Made> made) const {
  auto f = functions_;
  void *handle = handle_, *x = f->sparse(B), *y = f->sparse(C);
  return [=] {
    void *z = nullptr, *product = nullptr;
    made->pos = scratch(size_t(B.rows + 1) * sizeof(int));
    check(f->csr(&z, B.rows, C.columns, 0, made->pos->data(), nullptr, nullptr, index32, index32, from_zero,
                 double_precision),
          "a matrix");
    check(f->product(&product), "SpGEMM");
    size_t first = 0, second = 0;
    auto estimate = [&](void* room) {
      check(f->product_estimate(handle, none, none, &one, x, y, &zero, z, double_precision, 0, product, &first, room),
            "SpGEMM");
    };
    auto compute = [&](void* room) {
      check(f->product_compute(handle, none, none, &one, x, y, &zero, z, double_precision, 0, product, &second, room),
            "SpGEMM");
    };
    estimate(nullptr);
    auto room1 = scratch(first);
    estimate(room1->data());
    compute(nullptr);
    auto room2 = scratch(second);
    compute(room2->data());
    int64_t rows = 0, columns = 0;
    check(f->sizes(z, &rows, &columns, &made->stored), "SpGEMM");
    made->crd = scratch(size_t(made->stored) * sizeof(int));
    made->values = scratch(size_t(made->stored) * sizeof(double));
    check(f->set_arrays(z, made->pos->data(), made->crd->data(), made->values->data()), "SpGEMM");
    check(f->product_copy(handle, none, none, &one, x, y, &zero, z, double_precision, 0, product), "SpGEMM");
    f->product_destroy(product);
    f->destroy(z);
  };
}

}  // namespace spdistal::bench
