// Invariants, checked in all builds.
#pragma once
#include <string_view>

#include "spdistal/error.hpp"

namespace spdistal {

[[noreturn]] void broken_invariant(std::string_view what, const char* file, int line);

/// Throws InternalError with `what` (a statement that ought to hold) and the place, where `holds` is false. The place is
/// that of the call; not every compiler has std::source_location for it.
inline void require(bool holds, std::string_view what, const char* file = __builtin_FILE(),
                    int line = __builtin_LINE()) {
  if (!holds) [[unlikely]]
    broken_invariant(what, file, line);
}

}  // namespace spdistal
