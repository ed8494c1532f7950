#include "routine/blas.hpp"

#include <fmt/format.h>

#include "base/text.hpp"
#include "routine/loaded_library.hpp"
#include "spdistal/error.hpp"

namespace spdistal::routine {
namespace {

// The tuned ones first; the last is whatever the system has chosen.
const std::vector<std::string> usual = {"libopenblas.so.0", "libopenblas.so", "libmkl_rt.so.2", "libmkl_rt.so",
                                        "libblis.so.4",     "libblas.so.3",   "libblas.so"};

std::shared_ptr<const Blas> load_from(const std::string& file) {
  LoadedLibrary library(file);
  auto out = std::make_shared<Blas>();
  if (!library.get(out->sgemm_, "sgemm_") || !library.get(out->dgemm_, "dgemm_") ||
      !library.get(out->cgemm_, "cgemm_") || !library.get(out->zgemm_, "zgemm_"))
    return nullptr;
  for (const char* name : {"openblas_set_num_threads", "MKL_Set_Num_Threads", "bli_thread_set_num_threads"})
    if (void (*set)(int) = nullptr; !out->use_threads && library.get(set, name)) out->use_threads = set;
  out->file = file.substr(file.rfind('/') + 1);
  return out;
}

}  // namespace

std::shared_ptr<const Blas> Blas::load(const std::string& file) {
  std::shared_ptr<const Blas> found = find_library<Blas>(file, usual, load_from);
  if (!found)
    throw UserError(file.empty() ? fmt::format("gemm is asked for, but there is no BLAS on this machine: none of {}",
                                               enumerate(usual))
                                 : fmt::format("gemm is asked for, but {} is no BLAS", file),
                    "install one (libopenblas0), or say where it is: SPDISTAL_BLAS=/…/libopenblas.so.0");
  return found;
}

}  // namespace spdistal::routine
