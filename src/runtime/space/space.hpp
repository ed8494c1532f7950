// Spaces: sets of n-dimensional points with 64-bit coordinates, as values. A set is kept in bands, which is its one
// canonical form, so that equal sets have equal representations:
//
//        dim 1 ->        along the first dimension, maximal slabs [lo, hi) within which the cross section does not
//   dim 0  ##..##        change, in order; the cross section of each slab in the same form again. In one dimension:
//     |    ##..##        sorted, disjoint intervals that do not touch. Here: two slabs, three rectangles.
//     v    .####.
//
// Always holds: no rectangle is empty; rectangles are disjoint; their order is that of the bands. A set of at most one
// rectangle (of up to four dimensions) needs no heap; larger ones are immutable and shared by their copies.
#pragma once
#include <concepts>
#include <memory>
#include <optional>
#include <utility>

#include "runtime/space/rect.hpp"

namespace spdistal::runtime {

class Space {
 public:
  /// The empty set of points with so many coordinates.
  explicit Space(int dims = 1) : dims_(dims), bounding_(Rect::nothing(dims)) {}
  explicit Space(Rect rect);
  static Space interval(int64_t lo, int64_t hi) { return Space(Rect{{lo, hi}}); }
  /// The union of intervals in any order, overlapping or not.
  static Space from_intervals(std::vector<Range> intervals);
  /// The union of rectangles in any order, overlapping or not: `dims` sides each, one after the other.
  static Space from_rects(int dims, std::span<const Range> sides);
  /// The union of points in any order: `dims` coordinates each, one after the other.
  static Space from_points(int dims, std::span<const int64_t> coordinates);
  /// The set of the values, which must not descend.
  template <std::integral I>
  static Space from_sorted(std::span<const I> values);
  /// Trusts that the sides are in canonical form, as `sides()` of a Space gives them.
  static Space from_canonical(int dims, std::vector<Range> sides);

  int dims() const { return dims_; }
  bool empty() const { return count_ == 0; }
  bool is_rect() const { return count_ == 1; }
  size_t rect_count() const { return count_; }
  std::span<const Range> rect(size_t i) const& { return sides().subspan(i * size_t(dims_), size_t(dims_)); }
  /// The sides of all rectangles, one after the other. In one dimension: the intervals.
  std::span<const Range> sides() const& { return many_ ? std::span<const Range>(*many_) : inline_sides(); }
  // A temporary set would take its sides along.
  std::span<const Range> rect(size_t i) const&& = delete;
  std::span<const Range> sides() const&& = delete;
  /// The smallest rectangle that holds the set; sides of [0, 0) for the empty set.
  const Rect& bounding() const { return bounding_; }

  /// The number of points; it must fit 63 bits.
  int64_t size() const;
  /// The number of points, INT64_MAX where it is larger than that.
  int64_t size_or_max() const;

  bool contains(std::span<const int64_t> point) const { return find(point).has_value(); }
  bool contains(int64_t x) const { return contains(std::span<const int64_t>(&x, 1)); }
  /// The number of the rectangle that holds the point: O(dims · log rectangles).
  std::optional<size_t> find(std::span<const int64_t> point) const;

  friend bool operator==(const Space& a, const Space& b);
  /// a ∪ b, a ∩ b, a \ b. Linear in the rectangles of the result and those that it meets.
  friend Space operator|(const Space& a, const Space& b);
  friend Space operator&(const Space& a, const Space& b);
  friend Space operator-(const Space& a, const Space& b);

 private:
  std::span<const Range> inline_sides() const { return count_ == 0 ? std::span<const Range>() : bounding_.sides(); }
  void bound();

  int dims_ = 1;
  size_t count_ = 0;
  Rect bounding_;
  std::shared_ptr<const std::vector<Range>> many_;
};

bool intersects(const Space& a, const Space& b);
/// b ⊆ a.
bool contains(const Space& a, const Space& b);
/// The union of all: O(n log n) for n intervals.
Space unite(int dims, std::span<const Space> sets);

/// Of one dimension: { offset + stride * x : x ∈ set }, and { x ≥ 0 : offset + stride * x ∈ set }.
Space stretch(const Space& set, int64_t offset, int64_t stride);
Space shrink(const Space& set, int64_t offset, int64_t stride);

/// "{}", "{[0, 4), [7, 8)}".
std::string to_string(const Space& set);

/// Calls f(sides) for each rectangle, in canonical order.
template <class F>
void for_each_rect(const Space& set, F&& f) {
  for (size_t i = 0; i < set.rect_count(); i++) f(set.rect(i));
}

/// Calls f(point, length) for each maximal run of the rectangles along the last dimension: rectangle by rectangle in
/// canonical order, row-major in each. The point is where the run begins. A point without coordinates is a run of 1.
template <class F>
void for_each_row(std::span<const Range> rect, F&& f) {
  if (rect.empty()) return void(f(std::span<const int64_t>(), int64_t(1)));
  size_t last = rect.size() - 1;
  std::vector<int64_t> point;
  for (const Range& side : rect) point.push_back(side.lo);
  for (;;) {
    f(std::span<const int64_t>(point), rect[last].hi - rect[last].lo);
    size_t k = last;
    while (k > 0 && ++point[k - 1] == rect[k - 1].hi) point[k - 1] = rect[k - 1].lo, k--;
    if (k == 0) return;
  }
}
template <class F>
void for_each_row(const Space& set, F&& f) {
  for_each_rect(set, [&](std::span<const Range> rect) { for_each_row(rect, f); });
}

/// Calls f(point) for each point, in the order of `for_each_row`.
template <class F>
void for_each_point(const Space& set, F&& f) {
  std::vector<int64_t> at(size_t(set.dims()));
  for_each_row(set, [&](std::span<const int64_t> row, int64_t length) {
    std::copy(row.begin(), row.end(), at.begin());
    for (int64_t k = 0; k < length; k++) {
      f(std::span<const int64_t>(at));
      if (!at.empty()) at.back()++;
    }
  });
}

template <std::integral I>
Space Space::from_sorted(std::span<const I> values) {
  std::vector<Range> intervals;
  for (I value : values) {
    if (!intervals.empty() && int64_t(value) < intervals.back().hi) continue;
    if (!intervals.empty() && int64_t(value) == intervals.back().hi) intervals.back().hi++;
    else intervals.push_back({int64_t(value), int64_t(value) + 1});
  }
  return from_canonical(1, std::move(intervals));
}

}  // namespace spdistal::runtime
