#include "runtime/space/space.hpp"

#include <algorithm>

#include "base/require.hpp"
#include "base/text.hpp"
#include "runtime/space/combine.hpp"

namespace spdistal::runtime {
namespace {

Bands bands(const Space& set) { return {set.sides().data(), set.rect_count()}; }

void require_same_dims(const Space& a, const Space& b) {
  require(a.dims() == b.dims(), "only sets of the same number of dimensions are combined");
}

/// The union of rectangles, halves first.
std::vector<Range> unite_rects(std::span<const Range> sides, size_t dims) {
  size_t rects = sides.size() / dims;
  if (rects == 0 || (rects == 1 && std::ranges::any_of(sides, [](const Range& side) { return is_empty(side); })))
    return {};
  if (rects == 1) return {sides.begin(), sides.end()};
  std::vector<Range> a = unite_rects(sides.first(rects / 2 * dims), dims);
  std::vector<Range> b = unite_rects(sides.subspan(rects / 2 * dims), dims);
  return combine(SetOp::Unite, {a.data(), a.size() / dims}, {b.data(), b.size() / dims}, dims);
}

/// A set without dimensions is the one point or nothing.
Space point_if(bool there) { return there ? Space(Rect{}) : Space(0); }

}  // namespace

Space::Space(Rect rect) : dims_(rect.dims()), count_(rect.empty() ? 0 : 1) {
  if (count_) bounding_ = std::move(rect);
  else bound();
}

void Space::bound() {
  bounding_ = count_ ? Rect(rect(0)) : Rect::nothing(dims_);
  for (size_t i = 1; i < count_; i++)
    for (int k = 0; k < dims_; k++) {
      const Range &side = rect(i)[size_t(k)], box = bounding_[k];
      bounding_.set(k, {std::min(box.lo, side.lo), std::max(box.hi, side.hi)});
    }
}

Space Space::from_canonical(int dims, std::vector<Range> sides) {
  require(dims > 0, "a list of rectangles has dimensions");
  Space out(dims);
  if (sides.size() == size_t(dims)) return Space(Rect(sides));
  out.count_ = sides.size() / size_t(dims);
  if (out.count_) out.many_ = std::make_shared<const std::vector<Range>>(std::move(sides));
  out.bound();
  return out;
}

Space Space::from_intervals(std::vector<Range> intervals) {
  auto before = [](const Range& a, const Range& b) { return a.lo < b.lo; };
  if (!std::is_sorted(intervals.begin(), intervals.end(), before)) std::ranges::sort(intervals, before);
  size_t kept = 0;
  for (const Range& next : intervals) {
    if (is_empty(next)) continue;
    if (kept && next.lo <= intervals[kept - 1].hi) {
      intervals[kept - 1].hi = std::max(intervals[kept - 1].hi, next.hi);
    } else {
      intervals[kept++] = next;
    }
  }
  intervals.resize(kept);
  return from_canonical(1, std::move(intervals));
}

Space Space::from_rects(int dims, std::span<const Range> sides) {
  if (dims == 1) return from_intervals({sides.begin(), sides.end()});
  require(dims > 0 && sides.size() % size_t(dims) == 0, "every rectangle has all its sides");
  return from_canonical(dims, unite_rects(sides, size_t(dims)));
}

Space Space::from_points(int dims, std::span<const int64_t> coordinates) {
  std::vector<Range> sides;
  sides.reserve(coordinates.size());
  for (int64_t x : coordinates) sides.push_back({x, x + 1});
  return from_rects(dims, sides);
}

int64_t Space::size_or_max() const {
  Uint128 total = 0;
  for (size_t i = 0; i < count_; i++) {
    int64_t volume = volume_or_max(rect(i));
    total += uint64_t(volume);
    if (total > INT64_MAX || volume == INT64_MAX) return INT64_MAX;
  }
  return int64_t(total);
}

int64_t Space::size() const {
  int64_t size = size_or_max();
  require(size < INT64_MAX, "the size of a set that is counted fits 63 bits");
  return size;
}

std::optional<size_t> Space::find(std::span<const int64_t> point) const {
  require(point.size() == size_t(dims_), "a point has as many coordinates as its space has dimensions");
  size_t begin = 0, end = count_, dims = size_t(dims_);
  std::span<const Range> all = sides();
  for (size_t k = 0; k < dims && begin < end; k++) {
    // Within [begin, end) the sides along k ascend; equal ones are one band.
    auto first_where = [&](auto&& holds) {
      size_t lo = begin, hi = end;
      while (lo < hi) {
        size_t middle = lo + (hi - lo) / 2;
        if (holds(all[middle * dims + k])) hi = middle;
        else lo = middle + 1;
      }
      return lo;
    };
    int64_t x = point[k];
    size_t from = first_where([&](const Range& side) { return side.hi > x; });
    size_t to = first_where([&](const Range& side) { return side.lo > x; });
    begin = from, end = to;
  }
  return begin < end ? std::optional(begin) : std::nullopt;
}

bool operator==(const Space& a, const Space& b) {
  return a.dims_ == b.dims_ && a.count_ == b.count_ &&
         ((a.many_ && a.many_ == b.many_) || std::ranges::equal(a.sides(), b.sides()));
}

Space operator|(const Space& a, const Space& b) {
  require_same_dims(a, b);
  if (a.empty()) return b;
  if (b.empty() || a.dims_ == 0) return a;
  return Space::from_canonical(a.dims_, combine(SetOp::Unite, bands(a), bands(b), size_t(a.dims_)));
}

Space operator&(const Space& a, const Space& b) {
  require_same_dims(a, b);
  if (a.dims_ == 0) return point_if(!a.empty() && !b.empty());
  if (a.empty() || b.empty()) return Space(a.dims_);
  Rect box = common(a.bounding_, b.bounding_);
  if (box.empty()) return Space(a.dims_);
  if (a.is_rect() && b.is_rect()) return Space(std::move(box));
  if (a.is_rect() && box == b.bounding_) return b;
  if (b.is_rect() && box == a.bounding_) return a;
  return Space::from_canonical(a.dims_, combine(SetOp::Intersect, bands(a), bands(b), size_t(a.dims_)));
}

Space operator-(const Space& a, const Space& b) {
  require_same_dims(a, b);
  if (a.dims_ == 0) return point_if(!a.empty() && b.empty());
  if (a.empty() || b.empty() || common(a.bounding_, b.bounding_).empty()) return a;
  return Space::from_canonical(a.dims_, combine(SetOp::Subtract, bands(a), bands(b), size_t(a.dims_)));
}

bool intersects(const Space& a, const Space& b) { return !(a & b).empty(); }

bool contains(const Space& a, const Space& b) {
  if (b.empty()) return true;
  if (a.is_rect()) return common(a.bounding(), b.bounding()) == b.bounding();
  return (b - a).empty();
}

Space unite(int dims, std::span<const Space> sets) {
  if (sets.empty()) return Space(dims);
  if (sets.size() == 1) return sets[0];
  if (dims == 1) {
    std::vector<Range> all;
    for (const Space& set : sets) all.insert(all.end(), set.sides().begin(), set.sides().end());
    return Space::from_intervals(std::move(all));
  }
  size_t half = sets.size() / 2;
  return unite(dims, sets.first(half)) | unite(dims, sets.subspan(half));
}

Space stretch(const Space& set, int64_t offset, int64_t stride) {
  std::vector<Range> out;
  for (const Range& x : set.sides()) {
    if (stride == 1) out.push_back({offset + x.lo, offset + x.hi});
    else
      for (int64_t at = x.lo; at < x.hi; at++) out.push_back({offset + stride * at, offset + stride * at + 1});
  }
  return Space::from_canonical(1, std::move(out));
}

Space shrink(const Space& set, int64_t offset, int64_t stride) {
  auto first_at = [&](int64_t y) { return y <= offset ? 0 : (y - offset - 1) / stride + 1; };
  std::vector<Range> out;
  for (const Range& y : set.sides())
    if (Range x{first_at(y.lo), first_at(y.hi)}; !is_empty(x)) out.push_back(x);
  return Space::from_intervals(std::move(out));
}

std::string to_string(const Space& set) {
  std::string out = "{";
  for_each_rect(set, [&](std::span<const Range> rect) {
    if (out.size() > 1) out += ", ";
    out += to_string(rect);
  });
  return out + "}";
}

}  // namespace spdistal::runtime
