// Random sets and their slow, obvious counterparts: sets of points as std::set, to compare operators against.
#pragma once
#include <algorithm>
#include <ostream>
#include <random>
#include <set>
#include <vector>

#include "runtime/space/space.hpp"

namespace spdistal::runtime {

inline void PrintTo(const Space& set, std::ostream* out) { *out << to_string(set); }

}  // namespace spdistal::runtime

namespace spdistal::runtime::testkit {

using Random = std::mt19937_64;
using Point = std::vector<int64_t>;
using Points = std::set<Point>;

inline int64_t pick(Random& random, int64_t lo, int64_t hi) {
  return std::uniform_int_distribution<int64_t>(lo, hi)(random);
}

inline Points points_of(const Space& set) {
  Points out;
  for_each_point(set, [&](std::span<const int64_t> at) { out.insert(Point(at.begin(), at.end())); });
  return out;
}

inline Space space_of(int dims, const Points& points) {
  if (dims == 0) return points.empty() ? Space(0) : Space(Rect{});
  std::vector<int64_t> flat;
  for (const Point& at : points) flat.insert(flat.end(), at.begin(), at.end());
  return Space::from_points(dims, flat);
}

/// A few rectangles within [0, extent) along each dimension; often empty, often overlapping.
inline std::vector<Rect> random_rects(Random& random, int dims, int64_t extent, int most) {
  std::vector<Rect> out;
  for (int64_t n = pick(random, 0, most); n > 0; n--) {
    std::vector<Range> sides;
    for (int k = 0; k < dims; k++) {
      int64_t lo = pick(random, 0, extent), hi = pick(random, 0, 3) == 0 ? extent : pick(random, 0, extent);
      sides.push_back({std::min(lo, hi), std::max(lo, hi)});
    }
    out.emplace_back(sides);
  }
  return out;
}

inline Space random_space(Random& random, int dims, int64_t extent, int most) {
  Space out(dims);
  for (const Rect& rect : random_rects(random, dims, extent, most)) out = out | Space(rect);
  return out;
}

inline Points all_points(const std::vector<int64_t>& extents) { return points_of(Space(Rect::of_extents(extents))); }

}  // namespace spdistal::runtime::testkit
