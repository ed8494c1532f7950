#include "runtime/space/combine.hpp"

#include <algorithm>
#include <limits>

namespace spdistal::runtime {
namespace {

bool keeps(SetOp op, bool in_a, bool in_b) {
  switch (op) {
    case SetOp::Unite: return in_a || in_b;
    case SetOp::Intersect: return in_a && in_b;
    default: return in_a && !in_b;
  }
}

/// Rectangles of `stride` sides; the sides before `dim` are the same in all and no longer looked at.
struct Section {
  const Range* sides;
  size_t count;
  size_t stride, dim;

  const Range& side(size_t i) const { return sides[i * stride + dim]; }
  size_t band_end(size_t i) const {
    if (dim + 1 == stride) return i + 1;
    size_t end = i + 1;
    while (end < count && side(end).lo == side(i).lo) end++;
    return end;
  }
  Section inner(size_t begin, size_t end) const { return {sides + begin * stride, end - begin, stride, dim + 1}; }
  Section none() const { return {sides, 0, stride, dim + 1}; }
};

/// Walks the elementary slabs of two lists of bands: f(slab, cross section in a, cross section in b).
template <class F>
void sweep(const Section& a, const Section& b, SetOp op, F&& f) {
  size_t i = 0, j = 0;
  size_t i_end = a.count ? a.band_end(0) : 0, j_end = b.count ? b.band_end(0) : 0;
  int64_t at = std::numeric_limits<int64_t>::min();
  for (;;) {
    bool more_a = i < a.count, more_b = j < b.count;
    if (!more_a && (!more_b || op != SetOp::Unite)) return;
    if (!more_b && op == SetOp::Intersect) return;
    int64_t first = more_a && more_b ? std::min(a.side(i).lo, b.side(j).lo) : more_a ? a.side(i).lo : b.side(j).lo;
    int64_t lo = std::max(at, first);
    bool in_a = more_a && a.side(i).lo <= lo, in_b = more_b && b.side(j).lo <= lo;
    int64_t hi = std::numeric_limits<int64_t>::max();
    if (more_a) hi = std::min(hi, in_a ? a.side(i).hi : a.side(i).lo);
    if (more_b) hi = std::min(hi, in_b ? b.side(j).hi : b.side(j).lo);
    if (in_a || in_b) f(Range{lo, hi}, in_a ? a.inner(i, i_end) : a.none(), in_b ? b.inner(j, j_end) : b.none());
    at = hi;
    if (in_a && a.side(i).hi == at && (i = i_end) < a.count) i_end = a.band_end(i);
    if (in_b && b.side(j).hi == at && (j = j_end) < b.count) j_end = b.band_end(j);
  }
}

std::vector<Range> sweep_line(SetOp op, const Section& a, const Section& b) {
  std::vector<Range> out;
  sweep(a, b, op, [&](Range slab, const Section& in_a, const Section& in_b) {
    if (!keeps(op, in_a.count > 0, in_b.count > 0)) return;
    if (!out.empty() && out.back().hi == slab.lo) out.back().hi = slab.hi;
    else out.push_back(slab);
  });
  return out;
}

std::vector<Range> sweep_bands(SetOp op, const Section& a, const Section& b) {
  if (a.dim + 1 == a.stride) return sweep_line(op, a, b);
  size_t inner_dims = a.stride - a.dim - 1;
  std::vector<Range> out, section;
  Range open{};
  auto close = [&] {
    for (size_t at = 0; at < section.size(); at += inner_dims) {
      out.push_back(open);
      out.insert(out.end(), section.begin() + std::ptrdiff_t(at), section.begin() + std::ptrdiff_t(at + inner_dims));
    }
  };
  sweep(a, b, op, [&](Range slab, const Section& in_a, const Section& in_b) {
    std::vector<Range> here;
    if (op != SetOp::Intersect || (in_a.count && in_b.count)) here = sweep_bands(op, in_a, in_b);
    if (!section.empty() && open.hi == slab.lo && section == here) {
      open.hi = slab.hi;
    } else {
      close();
      open = slab;
      section = std::move(here);
    }
  });
  close();
  return out;
}

/// The bands that meet [lo, hi) along the first dimension; the others cannot matter.
Bands near(Bands bands, size_t dims, int64_t lo, int64_t hi) {
  auto first_where = [&](auto&& holds) {
    size_t begin = 0, end = bands.count;
    while (begin < end) {
      size_t middle = begin + (end - begin) / 2;
      if (holds(bands.sides[middle * dims])) end = middle;
      else begin = middle + 1;
    }
    return begin;
  };
  size_t begin = first_where([&](const Range& side) { return side.hi > lo; });
  size_t end = first_where([&](const Range& side) { return side.lo >= hi; });
  return {bands.sides + begin * dims, end > begin ? end - begin : 0};
}

}  // namespace

std::vector<Range> combine(SetOp op, Bands a, Bands b, size_t dims) {
  auto first = [&](Bands s) { return s.sides[0].lo; };
  auto last = [&](Bands s) { return s.sides[(s.count - 1) * dims].hi; };
  if (op != SetOp::Unite && a.count && b.count) {
    Bands near_b = near(b, dims, first(a), last(a));
    if (op == SetOp::Intersect) a = near(a, dims, first(b), last(b));
    b = near_b;
  }
  return sweep_bands(op, {a.sides, a.count, dims, 0}, {b.sides, b.count, dims, 0});
}

}  // namespace spdistal::runtime
