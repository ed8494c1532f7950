// What a non-zero partition `~x` counts.
#pragma once
#include <cstddef>

#include "spdistal/format.hpp"

namespace spdistal {

/// How many levels, from the outermost, `~var` splits together: positions of the deepest level that stores a dimension of
/// var count everything above it, and a level that keeps one coordinate for each position above (Singleton) goes with it.
size_t levels_split_by(const Format& format, const Distribution& distribution, const DistVar& var);

}  // namespace spdistal
