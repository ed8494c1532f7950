// Libraries that are loaded when they are asked for, and the functions in them.
#pragma once
#include <dlfcn.h>

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace spdistal::routine {

/// The library of a file, for good; has nothing where there is none.
class LoadedLibrary {
 public:
  explicit LoadedLibrary(const std::string& file) : library_(dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL)) {}

  /// False where it lacks the function.
  template <class F>
  bool get(F& function, const char* name) const {
    function = library_ ? reinterpret_cast<F>(dlsym(library_, name)) : nullptr;
    return function != nullptr;
  }

 private:
  void* library_;
};

/// The functions of a file, or of the first of those where a library usually is; null where it is not there. Each is loaded once.
template <class Functions>
std::shared_ptr<const Functions> find_library(const std::string& file, const std::vector<std::string>& usual,
                                              std::shared_ptr<const Functions> (*load)(const std::string&)) {
  static std::mutex mutex;
  static std::map<std::string, std::shared_ptr<const Functions>> loaded;
  std::lock_guard lock(mutex);
  std::shared_ptr<const Functions>& found = loaded[file];
  for (const std::string& candidate : file.empty() ? usual : std::vector{file})
    if (!found) found = load(candidate);
  return found;
}

}  // namespace spdistal::routine
