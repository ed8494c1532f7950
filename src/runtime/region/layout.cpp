#include "runtime/region/layout.hpp"

#include <algorithm>
#include <cstdlib>
#include <functional>

#include "base/require.hpp"

namespace spdistal::runtime {

Layout Layout::compact(const Space& set) {
  Layout out;
  out.where_ = Space(set.dims());
  return out.with_tail(set, 0);
}

Layout Layout::box(const Space& set) { return compact(set.empty() ? set : Space(set.bounding())); }

Layout Layout::hardly_larger(const Space& set) {
  int64_t size = set.size(), bounding = set.bounding().volume_or_max();
  return bounding - size <= size / 8 ? box(set) : compact(set);
}

Layout Layout::grid(std::vector<Axis> axes) {
  Layout out;
  out.extent_ = 1;
  for (const Axis& axis : axes)
    require(!__builtin_mul_overflow(out.extent_, axis.size, &out.extent_), "an instance can be counted");
  if (axes.size() == 1) out.line_ = axes[0].runs;
  out.axes_ = std::move(axes);
  return out;
}

Space Layout::grid_points() const {
  std::vector<Range> sides, rect;
  std::function<void(size_t)> product = [&](size_t k) {
    if (k == axes_.size()) return void(sides.insert(sides.end(), rect.begin(), rect.end()));
    for (const Axis::Run& run : axes_[k].runs) {
      rect.push_back(run.range);
      product(k + 1);
      rect.pop_back();
    }
  };
  product(0);
  return Space::from_rects(int(axes_.size()), sides);
}

Layout Layout::with_tail(const Space& set, int64_t offset) const {
  require(offset >= extent_ && !intersects(where_, set), "a tail lies behind the rest and repeats nothing of it");
  Layout out = *this;
  Segment segment{set, {}};
  int64_t at = offset;
  for_each_rect(set, [&](std::span<const Range> rect) {
    segment.starts.push_back(at);
    if (set.dims() == 1) out.line_.push_back({rect[0], at});
    require(!__builtin_add_overflow(at, volume_or_max(rect), &at), "an instance can be counted");
  });
  out.extent_ = at;
  out.where_ = where_ | set;
  out.segments_.push_back(std::move(segment));
  if (segments_.size() > 0) std::ranges::sort(out.line_, {}, [](const Axis::Run& run) { return run.range.lo; });
  return out;
}

Layout::Place Layout::find(std::span<const int64_t> point) const {
  if (!axes_.empty()) {
    Place place{0, 1};
    for (size_t k = 0; k < axes_.size(); k++) {
      const Axis::Run* run = run_after(axes_[k].runs, point[k]);
      if (run == axes_[k].runs.data() + axes_[k].runs.size() || !run->range.contains(point[k])) place_missing();
      place = {place.offset * axes_[k].size + run->first + (point[k] - run->range.lo), run->range.hi - point[k]};
    }
    return place;
  }
  for (const Segment& segment : segments_) {
    auto rect = segment.set.find(point);
    if (!rect) continue;
    std::span<const Range> sides = segment.set.rect(*rect);
    int64_t number = 0, rest = 1;
    for (size_t k = 0; k < sides.size(); k++) {
      number = number * sides[k].size() + (point[k] - sides[k].lo);
      rest = sides[k].hi - point[k];
    }
    return {segment.starts[*rect] + number, rest};
  }
  place_missing();
}

// Trailing dimensions that are all there is, below what one run holds of each.
size_t Layout::grid_dims_in_one_run(std::span<const Range> rect) const {
  size_t whole = rect.size();
  for (size_t k = 0; k < rect.size(); k++) {
    const Axis::Run* run = run_after(axes_[k].runs, rect[k].lo);
    if (run == axes_[k].runs.data() + axes_[k].runs.size() || run->range.hi < rect[k].hi) return rect.size();
  }
  while (whole > 1 && rect[whole - 1].size() == axes_[whole - 1].size) whole--;
  return whole;
}

size_t Layout::dims_in_one_run(std::span<const Range> rect) const {
  if (!axes_.empty()) return grid_dims_in_one_run(rect);
  std::vector<int64_t> first;
  for (const Range& side : rect) first.push_back(side.lo);
  for (const Segment& segment : segments_) {
    auto found = segment.set.find(first);
    if (!found) continue;
    std::span<const Range> around = segment.set.rect(*found);
    size_t whole = rect.size();
    for (size_t k = 0; k < rect.size(); k++)
      if (rect[k].hi > around[k].hi) return rect.size();
    while (whole > 1 && rect[whole - 1] == around[whole - 1]) whole--;
    return whole;
  }
  return rect.size();
}

int64_t Layout::offset_of(std::span<const int64_t> point) const { return find(point).offset; }

const Axis::Run* Layout::run_after(std::span<const Axis::Run> line, int64_t x) {
  return line.data() +
         (std::ranges::upper_bound(line, x, {}, [](const Axis::Run& run) { return run.range.hi; }) - line.begin());
}

const Axis::Run* Layout::place_missing() {
  require(false, "every element asked for has a place in the instance");
  std::abort();
}

}  // namespace spdistal::runtime
