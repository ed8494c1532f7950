#include "runtime/partition/projection.hpp"

namespace spdistal::runtime {

Partition project(const Partition& p, std::span<const int> dims) {
  return map_pieces(p, project(p.universe(), dims), [&](int64_t, const Space& piece) { return project(piece, dims); });
}

Partition lift(const Partition& p, std::span<const int> dims, const Rect& box) {
  return map_pieces(p, Space(box), [&](int64_t, const Space& piece) { return lift(piece, dims, box); });
}

}  // namespace spdistal::runtime
