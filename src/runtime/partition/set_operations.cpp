#include "runtime/partition/set_operations.hpp"

#include "base/require.hpp"

namespace spdistal::runtime {
namespace {

template <class F>
Partition per_colour(const Partition& p, const Partition& q, Space universe, F&& f) {
  require(p.grid() == q.grid() && p.known() == q.known(), "partitions that are combined have the same colours");
  return map_pieces(p, std::move(universe), [&](int64_t c, const Space& piece) { return f(piece, q[c]); });
}

}  // namespace

Partition intersection(const Partition& p, const Partition& q) {
  return per_colour(p, q, p.universe(), [](const Space& a, const Space& b) { return a & b; });
}
Partition union_of(const Partition& p, const Partition& q) {
  return per_colour(p, q, p.universe() | q.universe(), [](const Space& a, const Space& b) { return a | b; });
}
Partition difference(const Partition& p, const Partition& q) {
  return per_colour(p, q, p.universe(), [](const Space& a, const Space& b) { return a - b; });
}

Partition spread(const Partition& p, const ColourGrid& grid, std::span<const int> dims) {
  require(p.is_whole() && int(dims.size()) == p.grid().order(), "each dimension of the smaller grid has its place");
  std::vector<Space> pieces;
  std::vector<int64_t> below(dims.size());
  for (int64_t c = 0; c < grid.count(); c++) {
    std::vector<int64_t> point = grid.point_of(c);
    for (size_t k = 0; k < dims.size(); k++) below[k] = point[size_t(dims[k])];
    pieces.push_back(p[p.grid().colour_at(below)]);
  }
  return Partition(grid, p.universe(), std::move(pieces));
}

}  // namespace spdistal::runtime
