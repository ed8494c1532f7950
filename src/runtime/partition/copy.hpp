// The same pieces in another universe of the same dimensions:  P'[c] = P[c] ∩ U'
// Levels that share their positions (a singleton and its parent, crd and vals) share partitions in this way.
#pragma once
#include "runtime/partition/partition.hpp"

namespace spdistal::runtime {

inline Partition copy(const Partition& p, const Space& universe) {
  return map_pieces(p, universe, [&](int64_t, const Space& piece) { return piece & universe; });
}

}  // namespace spdistal::runtime
