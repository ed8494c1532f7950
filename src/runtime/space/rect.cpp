#include "runtime/space/rect.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/require.hpp"
#include "base/text.hpp"

namespace spdistal::runtime {

int64_t volume_or_max(std::span<const Range> sides) {
  Uint128 volume = 1;
  bool large = false;
  for (const Range& side : sides) {
    if (is_empty(side)) return 0;
    if (!large) volume *= width(side);
    large = large || volume > INT64_MAX;
  }
  return large ? INT64_MAX : int64_t(volume);
}

Rect::Rect(std::span<const Range> sides) : dims_(int(sides.size())) {
  if (dims_ > few) many_.assign(sides.begin(), sides.end());
  else std::copy(sides.begin(), sides.end(), few_.begin());
}

Rect Rect::nothing(int dims) {
  Rect out;
  out.dims_ = dims;
  if (dims > few) out.many_.resize(size_t(dims));
  return out;
}

Rect Rect::of_extents(std::span<const int64_t> extents) {
  std::vector<Range> sides;
  for (int64_t extent : extents) sides.push_back({0, extent});
  return Rect(sides);
}

bool Rect::empty() const {
  return std::any_of(sides().begin(), sides().end(), [](const Range& side) { return is_empty(side); });
}

bool Rect::contains(std::span<const int64_t> point) const {
  require(int(point.size()) == dims_, "a point has as many coordinates as its space has dimensions");
  for (int k = 0; k < dims_; k++)
    if (!(*this)[k].contains(point[size_t(k)])) return false;
  return true;
}

bool operator==(const Rect& a, const Rect& b) { return std::ranges::equal(a.sides(), b.sides()); }

Rect common(const Rect& a, const Rect& b) {
  require(a.dims() == b.dims(), "only sets of the same number of dimensions meet");
  Rect out = a;
  for (int k = 0; k < a.dims(); k++) out.set(k, common(a[k], b[k]));
  return out;
}

std::string to_string(std::span<const Range> sides) {
  if (sides.empty()) return "()";
  return join(sides, " x ", [](const Range& side) { return fmt::format("[{}, {})", side.lo, side.hi); });
}

}  // namespace spdistal::runtime
