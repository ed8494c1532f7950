#include "runtime/partition/grid.hpp"

#include <fmt/format.h>

#include "base/require.hpp"
#include "base/text.hpp"
#include "spdistal/error.hpp"

namespace spdistal::runtime {

ColourGrid::ColourGrid(std::vector<int64_t> extents) : extents_(std::move(extents)), count_(1) {
  for (int64_t extent : extents_) {
    require(extent > 0, "a grid has at least one colour along each dimension");
    if (__builtin_mul_overflow(count_, extent, &count_) || count_ > most_colours)
      throw UserError(fmt::format("a grid of {} is more than {} pieces, and each is planned for by itself",
                                  join(extents_, " x ", [](int64_t n) { return std::to_string(n); }), most_colours),
                      "divide what is distributed into as many pieces as there are processors");
  }
}

int64_t ColourGrid::colour_at(std::span<const int64_t> point) const {
  require(point.size() == extents_.size(), "a point of a grid has a coordinate for each dimension");
  int64_t colour = 0;
  for (size_t k = 0; k < extents_.size(); k++) colour = colour * extents_[k] + point[k];
  return colour;
}

std::vector<int64_t> ColourGrid::point_of(int64_t colour) const {
  std::vector<int64_t> point(extents_.size());
  for (size_t k = extents_.size(); k-- > 0; colour /= extents_[k]) point[k] = colour % extents_[k];
  return point;
}

}  // namespace spdistal::runtime
