// Which colours hold an element: the shares of all colours turned around. Every kind of condition is an axis, cut where
// any share begins or ends; a cell between the cuts of all axes has the same holders throughout, found once and kept.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "tensor/share.hpp"
#include "tensor/tree.hpp"

namespace spdistal {

class Holders {
 public:
  /// Of simplified shares. Colours that are not `listed` are never named.
  Holders(const Shares& shares, const Format& format, const std::vector<int64_t>& dims, std::vector<bool> listed);

  /// The position blocks that any share speaks of, in the order of their levels.
  struct Split {
    size_t level;
    NestedParts parts;             // those of any share: all are alike
    std::vector<Range> rows = {};  // where blocks of rows are split by themselves, in order
  };
  const std::vector<Split>& splits() const { return splits_; }

  /// The colours that hold an element, ascending; parts[s] is the part of split s that it lies in. Stands until the
  /// next call.
  std::span<const int64_t> of(std::span<const int64_t> at, std::span<const int64_t> parts);
  /// The colours that may hold any element whose coordinates agree with `at` above level `levels`; its parts lie within
  /// the ranges.
  std::span<const int64_t> of_any(std::span<const int64_t> at, size_t levels, std::span<const Range> parts);

 private:
  struct Axis {
    std::vector<size_t> dims;                   // one, or several that are fused; none: a split
    size_t split = 0;                           // which
    std::vector<int64_t> cuts;                  // interval i is [cuts[i], cuts[i + 1])
    std::vector<std::vector<int64_t>> colours;  // of each interval, ascending

    Range interval_of(int64_t x) const;
  };
  struct Hash {
    size_t operator()(const std::vector<Range>& cell) const;
  };
  using Intervals = std::vector<std::pair<Range, int64_t>>;  // a condition and its colour

  void add_axis(std::vector<size_t> dims, size_t split, const Intervals& conditions, Range all);
  std::span<const int64_t> in_cell();

  std::vector<int64_t> dims_;
  Format format_;
  std::vector<int64_t> alive_;  // colours that hold anything and are listed
  std::vector<Split> splits_;
  std::vector<Axis> axes_;
  std::vector<Range> cell_, last_cell_;
  std::span<const int64_t> last_;
  std::unordered_map<std::vector<Range>, std::vector<int64_t>, Hash> known_;
};

}  // namespace spdistal
