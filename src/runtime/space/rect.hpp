// Rectangles: the product of one half-open range per dimension. Any number of dimensions; up to four need no heap. The
// rectangle without dimensions is a single point, the place of a scalar.
#pragma once
#include <array>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <vector>

#include "base/blocks.hpp"

namespace spdistal::runtime {

__extension__ using Uint128 = unsigned __int128;

/// hi - lo without overflow, 0 where the range is empty.
constexpr uint64_t width(const Range& r) { return r.hi > r.lo ? uint64_t(r.hi) - uint64_t(r.lo) : 0; }
constexpr bool is_empty(const Range& r) { return r.hi <= r.lo; }
constexpr Range common(const Range& a, const Range& b) { return {std::max(a.lo, b.lo), std::min(a.hi, b.hi)}; }

/// The number of points in the product of the sides, INT64_MAX where it is larger than that.
int64_t volume_or_max(std::span<const Range> sides);

class Rect {
 public:
  Rect() = default;
  explicit Rect(std::span<const Range> sides);
  Rect(std::initializer_list<Range> sides) : Rect(std::span<const Range>(sides.begin(), sides.size())) {}
  /// [0, 0) along each dimension.
  static Rect nothing(int dims);
  /// [0, extent) along each dimension.
  static Rect of_extents(std::span<const int64_t> extents);

  int dims() const { return dims_; }
  std::span<const Range> sides() const { return {dims_ <= few ? few_.data() : many_.data(), size_t(dims_)}; }
  const Range& operator[](int dim) const { return sides()[size_t(dim)]; }
  void set(int dim, Range side) { (dims_ <= few ? few_.data() : many_.data())[dim] = side; }

  bool empty() const;
  bool contains(std::span<const int64_t> point) const;
  int64_t volume_or_max() const { return runtime::volume_or_max(sides()); }
  friend bool operator==(const Rect& a, const Rect& b);

 private:
  static constexpr int few = 4;
  int dims_ = 0;
  std::array<Range, few> few_{};
  std::vector<Range> many_;
};

/// The points in both; may be empty along any dimension.
Rect common(const Rect& a, const Rect& b);

/// "[0, 4) x [2, 3)".
std::string to_string(std::span<const Range> sides);

}  // namespace spdistal::runtime
