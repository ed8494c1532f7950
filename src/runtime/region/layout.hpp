// Where the elements of a set are in the memory of an instance: one or more disjoint sets, each stored compactly, that
// is rectangle by rectangle in canonical order, row-major in each, beginning at an offset of its own.
//
//   box       one rectangle, the bounding one: elements between are there and unused
//   compact   the set itself
//   + tail    elements of other pieces behind the piece's own: the own ones stay where they are
//   grid      the product of sets of coordinates, row-major by the numbers that each dimension gives them
#pragma once
#include <optional>
#include <vector>

#include "runtime/space/space.hpp"

namespace spdistal::runtime {

/// Coordinates of one dimension and their numbers, which are less than `size`.
struct Axis {
  /// The first has this number, the others follow.
  struct Run {
    Range range;
    int64_t first;
  };
  std::vector<Run> runs;  // in the order of the coordinates, no two of which are the same
  int64_t size = 0;
};

class Layout {
 public:
  Layout() = default;
  static Layout compact(const Space& set);
  static Layout box(const Space& set);
  /// The box where it is at most an eighth larger than the set, else compact.
  static Layout hardly_larger(const Space& set);
  /// Memory for all numbers, those of no coordinate too.
  static Layout grid(std::vector<Axis> axes);
  /// This layout and behind it, from element `offset` on, the set, compactly.
  Layout with_tail(const Space& set, int64_t offset) const;

  /// All elements that have a place.
  Space where() const { return axes_.empty() ? where_ : grid_points(); }
  /// How many elements the memory must hold.
  int64_t extent() const { return extent_; }
  /// All elements are in one rectangle, stored row-major from the first element of the memory on.
  bool is_box() const { return segments_.size() == 1 && segments_[0].set.is_rect() && segments_[0].starts[0] == 0; }
  int64_t offset_of(std::span<const int64_t> point) const;

  /// Calls f(offset, length) for consecutive places, in the order of `for_each_row` of the set, which is within
  /// `where`.
  template <class F>
  void for_each_run(const Space& set, F&& f) const {
    if (set.dims() == 1) return runs_on_line(set, f);
    for_each_rect(set, [&](std::span<const Range> rect) {
      // Trailing dimensions that fill those of one stored rectangle are one run with the one before them.
      size_t whole = dims_in_one_run(rect);
      int64_t run = 1;
      for (size_t k = whole; k < rect.size(); k++) run *= rect[k].size();
      std::vector<int64_t> at(rect.size());
      for (size_t k = 0; k < rect.size(); k++) at[k] = rect[k].lo;
      for_each_row(rect.first(whole), [&](std::span<const int64_t> row, int64_t length) {
        std::copy(row.begin(), row.end(), at.begin());
        for (int64_t done = 0; done < length;) {
          Place place = find(at);
          int64_t here = whole == rect.size() ? std::min(length - done, place.rest) : length - done;
          f(place.offset, here * run);
          done += here;
          if (whole > 0) at[whole - 1] += here;
        }
      });
    });
  }

 private:
  struct Segment {
    Space set;
    std::vector<int64_t> starts;  // of each rectangle
  };
  struct Place {
    int64_t offset, rest;  // the offset, and how many elements follow without a gap, this one included
  };

  Place find(std::span<const int64_t> point) const;
  /// How many leading dimensions must be walked: all, or those before the ones that fill a stored rectangle around `rect`.
  size_t dims_in_one_run(std::span<const Range> rect) const;
  Space grid_points() const;
  size_t grid_dims_in_one_run(std::span<const Range> rect) const;
  static const Axis::Run* run_after(std::span<const Axis::Run> line, int64_t x);
  const Axis::Run* end_of_line() const { return line_.data() + line_.size(); }

  template <class F>
  void runs_on_line(const Space& set, F&& f) const {
    if (set.empty()) return;
    const Axis::Run* i = run_after(line_, set.sides()[0].lo);
    for (const Range& wanted : set.sides()) {
      if (i != end_of_line() && i->range.hi <= wanted.lo) i = run_after(line_, wanted.lo);
      for (int64_t x = wanted.lo; x < wanted.hi;) {
        if (i == end_of_line() || !i->range.contains(x)) i = place_missing();
        int64_t stop = std::min(wanted.hi, i->range.hi);
        f(i->first + (x - i->range.lo), stop - x);
        x = stop;
        if (x == i->range.hi) i++;
      }
    }
  }
  [[noreturn]] static const Axis::Run* place_missing();

  std::vector<Segment> segments_;
  std::vector<Axis> axes_;       // of a grid, which has no segments
  std::vector<Axis::Run> line_;  // of one dimension: all segments' intervals in order
  Space where_{1};
  int64_t extent_ = 0;
};

}  // namespace spdistal::runtime
