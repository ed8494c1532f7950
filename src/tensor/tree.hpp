// The coordinate tree of a format: which levels count positions of their own, and which only multiply those above.
//
//   level      0 dense   1 compressed   2 dense    A position of level 2 is the number of the node above it at level 1,
//   counted              0                         times the extent of level 2, plus a coordinate.
//
// A level that lists tuples together with the Singletons after it counts those tuples. One that fills what lies between
// coordinates counts that too.
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "spdistal/format.hpp"

namespace spdistal {

/// A level whose positions are the distinct prefixes of coordinates down to `end`, in storage order, and where it fills,
/// what lies between those with the same parent.
struct CountedLevel {
  size_t level, end;  // both included: the level and the last Singleton after it
  bool fills;

  /// How many positions a path stands after the one before it, from which it first differs at level `depth`.
  int64_t step(size_t depth, int64_t before, int64_t here) const {
    if (depth > end) return 0;
    return fills && depth == level ? here - before : 1;
  }
};

class Tree {
 public:
  Tree(const Format& format, const std::vector<int64_t>& dims);

  size_t order() const { return extents_.size(); }
  const std::vector<CountedLevel>& counted() const { return counted_; }
  /// The innermost counted level down to a level: its number in `counted`. None where all so far have places.
  std::optional<size_t> counted_at(size_t level) const { return above_[level]; }
  /// How many positions of a level there are for each of the counted level above it (or of the root). Throws UserError
  /// where that cannot be counted.
  int64_t per_node(size_t level) const;
  /// Which of those a coordinate path (in storage order) leads to.
  int64_t offset(size_t level, const int64_t* path) const;
  /// The first of the dense levels that end the format; order() where there are none.
  size_t tail() const { return tail_; }
  /// How many positions of a level of the tail there are for each of the level above the tail.
  int64_t per_tail_node(size_t level) const;
  int64_t extent(size_t level) const { return extents_[level]; }

 private:
  size_t first_below(size_t level) const { return above_[level] ? counted_[*above_[level]].end + 1 : 0; }

  std::vector<int64_t> extents_;  // of the levels
  std::vector<CountedLevel> counted_;
  std::vector<std::optional<size_t>> above_;
  size_t tail_ = 0;
};

}  // namespace spdistal
