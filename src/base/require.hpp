// Invariants, checked in all builds.
#pragma once
#include <source_location>
#include <string_view>

#include "spdistal/error.hpp"

namespace spdistal {

[[noreturn]] void broken_invariant(std::string_view what, const std::source_location& where);

/// Throws InternalError with `what` (a statement that ought to hold) and the place, where `holds` is false.
inline void require(bool holds, std::string_view what,
                    const std::source_location& where = std::source_location::current()) {
  if (!holds) [[unlikely]]
    broken_invariant(what, where);
}

}  // namespace spdistal
