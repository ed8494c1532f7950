#include "routine/blas.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <map>
#include <mutex>
#include <vector>

#include "base/text.hpp"
#include "spdistal/error.hpp"

namespace spdistal::routine {
namespace {

// The tuned ones first; the last is whatever the system has chosen.
const std::vector<std::string> usual = {"libopenblas.so.0", "libopenblas.so", "libmkl_rt.so.2", "libmkl_rt.so",
                                        "libblis.so.4",     "libblas.so.3",   "libblas.so"};

std::shared_ptr<const Blas> load_from(const std::string& file) {
  void* library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library) return nullptr;
  auto out = std::make_shared<Blas>();
  auto get = [&](Blas::Gemm& function, const char* name) {
    function = reinterpret_cast<Blas::Gemm>(dlsym(library, name));
    return function != nullptr;
  };
  if (!get(out->sgemm_, "sgemm_") || !get(out->dgemm_, "dgemm_") || !get(out->cgemm_, "cgemm_") ||
      !get(out->zgemm_, "zgemm_")) {
    dlclose(library);
    return nullptr;
  }
  for (const char* name : {"openblas_set_num_threads", "MKL_Set_Num_Threads", "bli_thread_set_num_threads"})
    if (void* set = dlsym(library, name); set && !out->use_threads)
      out->use_threads = reinterpret_cast<void (*)(int)>(set);
  out->file = file.substr(file.rfind('/') + 1);
  return out;
}

}  // namespace

std::shared_ptr<const Blas> Blas::load(const std::string& file) {
  static std::mutex mutex;
  static std::map<std::string, std::shared_ptr<const Blas>> loaded;
  std::lock_guard lock(mutex);
  if (auto known = loaded.find(file); known != loaded.end()) return known->second;
  std::shared_ptr<const Blas> found;
  std::vector<std::string> candidates = file.empty() ? usual : std::vector{file};
  for (const std::string& candidate : candidates)
    if (!found) found = load_from(candidate);
  if (!found)
    throw UserError(file.empty() ? fmt::format("gemm is asked for, but there is no BLAS on this machine: none of {}",
                                               enumerate(usual))
                                 : fmt::format("gemm is asked for, but {} is no BLAS", file),
                    "install one (libopenblas0), or say where it is: SPDISTAL_BLAS=/…/libopenblas.so.0");
  return loaded.emplace(file, std::move(found)).first->second;
}

}  // namespace spdistal::routine
