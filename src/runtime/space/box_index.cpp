#include "runtime/space/box_index.hpp"

#include <algorithm>
#include <limits>

#include "base/require.hpp"

namespace spdistal::runtime {
namespace {

bool is_empty(std::span<const Range> box) {
  return std::any_of(box.begin(), box.end(), [](const Range& side) { return side.lo >= side.hi; });
}

bool meet(std::span<const Range> a, std::span<const Range> b) {
  for (size_t k = 0; k < a.size(); k++)
    if (a[k].lo >= b[k].hi || b[k].lo >= a[k].hi) return false;
  return true;
}

// The part of the whole along an axis that a box covers on average, times the number of boxes.
double width(const std::vector<std::vector<Range>>& boxes, const std::vector<int64_t>& some, size_t axis) {
  double sum = 0, lo = std::numeric_limits<double>::max(), hi = std::numeric_limits<double>::lowest();
  for (int64_t b : some) {
    const Range& side = boxes[size_t(b)][axis];
    sum += double(side.hi) - double(side.lo);
    lo = std::min(lo, double(side.lo)), hi = std::max(hi, double(side.hi));
  }
  return sum / (hi - lo);
}

}  // namespace

BoxIndex::BoxIndex(std::vector<std::vector<Range>> boxes) : boxes_(std::move(boxes)) {
  for (size_t b = 0; b < boxes_.size(); b++) {
    require(boxes_[b].size() == boxes_[0].size(), "boxes of one space have the same axes");
    if (!is_empty(boxes_[b])) order_.push_back(int64_t(b));
  }
  if (order_.empty() || boxes_[0].empty()) return;
  std::vector<double> widths;
  for (size_t axis = 0; axis < boxes_[0].size(); axis++) widths.push_back(width(boxes_, order_, axis));
  axis_ = size_t(std::min_element(widths.begin(), widths.end()) - widths.begin());
  std::stable_sort(order_.begin(), order_.end(),
                   [&](int64_t a, int64_t b) { return boxes_[size_t(a)][axis_].lo < boxes_[size_t(b)][axis_].lo; });
  for (int64_t b : order_)
    reach_.push_back(std::max(boxes_[size_t(b)][axis_].hi, reach_.empty() ? INT64_MIN : reach_.back()));
}

std::vector<int64_t> BoxIndex::meeting(std::span<const Range> box) const {
  if (order_.empty() || is_empty(box)) return {};
  if (box.empty()) return order_;  // of a space without axes: one point
  auto end = std::partition_point(order_.begin(), order_.end(),
                                  [&](int64_t b) { return boxes_[size_t(b)][axis_].lo < box[axis_].hi; });
  std::vector<int64_t> out;
  for (size_t k = size_t(end - order_.begin()); k-- > 0 && reach_[k] > box[axis_].lo;)
    if (meet(boxes_[size_t(order_[k])], box)) out.push_back(order_[k]);
  std::sort(out.begin(), out.end());
  return out;
}

}  // namespace spdistal::runtime
