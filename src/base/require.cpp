#include "base/require.hpp"

#include <fmt/format.h>

namespace spdistal {

void broken_invariant(std::string_view what, const char* path, int line) {
  std::string_view file = path;
  if (auto src = file.rfind("src/"); src != file.npos) file.remove_prefix(src);
  throw InternalError(
      fmt::format("internal error: it should hold that {} ({}:{}). Please report this.", what, file, line));
}

}  // namespace spdistal
