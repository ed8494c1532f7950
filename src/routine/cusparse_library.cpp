#include "routine/cusparse_library.hpp"

#include <fmt/format.h>

#include "base/text.hpp"
#include "routine/loaded_library.hpp"
#include "spdistal/error.hpp"

namespace spdistal::routine {
namespace {

const std::vector<std::string> usual_sparse = {"libcusparse.so.12", "libcusparse.so.13", "libcusparse.so",
                                               "/usr/local/cuda/lib64/libcusparse.so"};
const std::vector<std::string> usual_dense = {"libcublas.so.12", "libcublas.so.13", "libcublas.so",
                                              "/usr/local/cuda/lib64/libcublas.so"};

std::shared_ptr<const Cusparse> load_sparse_from(const std::string& file) {
  LoadedLibrary s(file);
  auto out = std::make_shared<Cusparse>();
  bool all =
      s.get(out->cusparseCreate, "cusparseCreate") && s.get(out->cusparseCreateCsr, "cusparseCreateCsr") &&
      s.get(out->cusparseDestroySpMat, "cusparseDestroySpMat") &&
      s.get(out->cusparseSpMatSetValues, "cusparseSpMatSetValues") &&
      s.get(out->cusparseCreateDnVec, "cusparseCreateDnVec") &&
      s.get(out->cusparseDestroyDnVec, "cusparseDestroyDnVec") &&
      s.get(out->cusparseDnVecSetValues, "cusparseDnVecSetValues") &&
      s.get(out->cusparseCreateDnMat, "cusparseCreateDnMat") &&
      s.get(out->cusparseDestroyDnMat, "cusparseDestroyDnMat") &&
      s.get(out->cusparseDnMatSetValues, "cusparseDnMatSetValues") &&
      s.get(out->cusparseSpMV_bufferSize, "cusparseSpMV_bufferSize") && s.get(out->cusparseSpMV, "cusparseSpMV") &&
      s.get(out->cusparseSpMM_bufferSize, "cusparseSpMM_bufferSize") && s.get(out->cusparseSpMM, "cusparseSpMM") &&
      s.get(out->cusparseSDDMM_bufferSize, "cusparseSDDMM_bufferSize") && s.get(out->cusparseSDDMM, "cusparseSDDMM");
  if (!all) return nullptr;
  out->file = file.substr(file.rfind('/') + 1);
  return out;
}

std::shared_ptr<const Cublas> load_dense_from(const std::string& file) {
  LoadedLibrary s(file);
  auto out = std::make_shared<Cublas>();
  bool all = s.get(out->cublasCreate, "cublasCreate_v2") && s.get(out->sdgmm, "cublasSdgmm") &&
             s.get(out->ddgmm, "cublasDdgmm") && s.get(out->cdgmm, "cublasCdgmm") && s.get(out->zdgmm, "cublasZdgmm") &&
             s.get(out->saxpy, "cublasSaxpy_v2") && s.get(out->daxpy, "cublasDaxpy_v2") &&
             s.get(out->caxpy, "cublasCaxpy_v2") && s.get(out->zaxpy, "cublasZaxpy_v2");
  return all ? out : nullptr;
}

}  // namespace

int Cusparse::number_of(ScalarType type) {
  switch (type) {
    case ScalarType::Int32: return 2;    // CUSPARSE_INDEX_32I
    case ScalarType::Int64: return 3;    // CUSPARSE_INDEX_64I
    case ScalarType::Float32: return 0;  // CUDA_R_32F
    case ScalarType::Float64: return 1;  // CUDA_R_64F
    case ScalarType::Complex64: return 4;
    default: return 5;
  }
}

void Cusparse::check(int status, const char* what) {
  if (status != 0) throw SystemError(fmt::format("cuSPARSE failed to {}: status {}", what, status));
}

namespace {

[[noreturn]] void refuse(const std::string& asked_for, const std::string& file,
                         const std::vector<std::string>& candidates, const char* name, const char* variable) {
  throw UserError(
      file.empty() ? fmt::format("{}, but it is not on this machine: none of {}", asked_for, enumerate(candidates))
                   : fmt::format("{}, but {} is none", asked_for, file),
      fmt::format("install NVIDIA's library (nvidia-{0}), or say where it is: {1}=/…/lib{0}.so", name, variable));
}

}  // namespace

std::shared_ptr<const Cusparse> Cusparse::load(const std::string& file) {
  if (auto found = find_library<Cusparse>(file, usual_sparse, load_sparse_from)) return found;
  refuse("cuSPARSE is asked for", file, usual_sparse, "cusparse", "SPDISTAL_CUSPARSE");
}

std::shared_ptr<const Cublas> Cublas::load(const std::string& file) {
  if (auto found = find_library<Cublas>(file, usual_dense, load_dense_from)) return found;
  refuse("sampled products by cuSPARSE take cuBLAS too", file, usual_dense, "cublas", "SPDISTAL_CUBLAS");
}

}  // namespace spdistal::routine
