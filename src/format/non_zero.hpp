// What a non-zero partition `~x` counts.
#pragma once
#include <cstddef>

#include "spdistal/format.hpp"

namespace spdistal {

/// How many levels, from the outermost, `~var` splits together: positions of the deepest level that stores a dimension of
/// var count everything above it, and a level that keeps one coordinate for each position above (Singleton) goes with it.
size_t levels_split_by(const Format& format, const Distribution& distribution, const DistVar& var);
/// Is a dimension that `~var` counts placed by its coordinates, and by nothing else, always before `~var`? What is dealt out then
/// is what each of its blocks stores.
bool has_blocks_of(const Format& format, const Distribution& distribution, const DistVar& var, size_t dim);

}  // namespace spdistal
