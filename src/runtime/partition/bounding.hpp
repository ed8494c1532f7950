// The smallest rectangle around each piece:  P'[c] = Π_d [min x_d, max x_d + 1) over x ∈ P[c];  empty where P[c] is.
#pragma once
#include "runtime/partition/partition.hpp"

namespace spdistal::runtime {

/// The universe becomes its own bounding rectangle.
inline Partition bounding(const Partition& p) {
  auto box = [](const Space& set) { return set.empty() ? set : Space(set.bounding()); };
  return map_pieces(p, box(p.universe()), [&](int64_t, const Space& piece) { return box(piece); });
}

}  // namespace spdistal::runtime
