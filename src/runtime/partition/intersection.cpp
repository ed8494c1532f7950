#include "runtime/partition/intersection.hpp"

#include "base/require.hpp"

namespace spdistal::runtime {

Partition intersection(const Partition& p, const Partition& q) {
  require(p.grid() == q.grid() && p.known() == q.known(), "partitions that are combined have the same colours");
  return map_pieces(p, p.universe(), [&](int64_t c, const Space& piece) { return piece & q[c]; });
}

}  // namespace spdistal::runtime
