// Which of many boxes meet another one, without asking each: what is planned for pieces takes time in proportion to the
// pieces that have something to do with each other.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "base/blocks.hpp"

namespace spdistal::runtime {

/// Boxes, each a range for every axis. One with an empty range meets nothing.
class BoxIndex {
 public:
  /// All of the same number of axes.
  explicit BoxIndex(std::vector<std::vector<Range>> boxes);
  /// The numbers of the boxes that have a point in common with this one, ascending.
  std::vector<int64_t> meeting(std::span<const Range> box) const;

 private:
  std::vector<std::vector<Range>> boxes_;
  size_t axis_ = 0;             // along which they are narrowest, on the whole
  std::vector<int64_t> order_;  // by where they begin along it; empty ones are left out
  std::vector<int64_t> reach_;  // how far the boxes up to there go
};

}  // namespace spdistal::runtime
