// Colours: the points of a grid of any order, counted row-major. A grid of order 0 has one colour.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

namespace spdistal::runtime {

class ColourGrid {
 public:
  /// What is known of each colour takes room and time on every rank.
  static constexpr int64_t most_colours = int64_t(1) << 20;

  /// Throws UserError where there would be more.
  explicit ColourGrid(std::vector<int64_t> extents);

  int order() const { return int(extents_.size()); }
  std::span<const int64_t> extents() const { return extents_; }
  int64_t count() const { return count_; }
  int64_t colour_at(std::span<const int64_t> point) const;
  std::vector<int64_t> point_of(int64_t colour) const;

  bool operator==(const ColourGrid&) const = default;

 private:
  std::vector<int64_t> extents_;
  int64_t count_;
};

}  // namespace spdistal::runtime
