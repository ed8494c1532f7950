#include "execute/move/regions.hpp"

#include <functional>

namespace spdistal {

using runtime::Instance;
using runtime::Instances;
using runtime::Layout;
using runtime::Partition;
using runtime::Rect;
using runtime::Space;

Space product_of(const Format& format, const std::vector<Space>& sets) {
  std::vector<Range> sides;
  std::vector<Range> rect(sets.size());
  size_t order = sets.size();
  for (const Space& set : sets)
    if (set.empty()) return Space(int(order));
  std::function<void(size_t)> walk = [&](size_t level) {
    if (level == order) {
      sides.insert(sides.end(), rect.begin(), rect.end());
      return;
    }
    for (const Range& side : sets[size_t(format.mode_order()[level])].sides()) {
      rect[level] = side;
      walk(level + 1);
    }
  };
  if (order == 0) return Space(Rect());
  walk(0);
  // Sets of numbers are lists of maximal intervals in order, so their product is in bands.
  return Space::from_canonical(int(order), std::move(sides));
}

void fill_up(std::vector<Space>& sets, int64_t most) {
  while (true) {
    double rects = 1;
    Space* shortest = nullptr;
    size_t lists = 0;
    for (Space& set : sets) {
      if (set.rect_count() < 2) continue;
      lists++;
      rects *= double(set.rect_count());
      if (!shortest || set.rect_count() < shortest->rect_count()) shortest = &set;
    }
    if (lists < 2 || rects <= double(most)) return;
    *shortest = Space(shortest->bounding());
  }
}

Rect box_of(const Storage& piece) {
  std::vector<Range> sides;
  for (const LevelArrays& level : piece.pattern().levels()) sides.push_back(level.range);
  return Rect(sides);
}

Space universe_of(const Format& format, const std::vector<int64_t>& dims) {
  std::vector<Range> sides;
  for (int dim : format.mode_order()) sides.push_back({0, dims[size_t(dim)]});
  return Space(Rect(sides));
}

namespace {

// { x in the box : the row-major number of the fused dimensions is in the range }.
Space fused_part(const Format& format, const std::vector<int64_t>& dims, const FusedRange& fused, const Space& within) {
  std::vector<Range> all;
  // A range of numbers is at most two rectangles for each fused dimension: walked digit by digit.
  std::function<void(size_t, Range, std::vector<Range>)> walk = [&](size_t k, Range range, std::vector<Range> sides) {
    if (range.size() <= 0) return;
    if (k == fused.dims.size()) {
      all.insert(all.end(), sides.begin(), sides.end());
      return;
    }
    int64_t below = 1;
    for (size_t n = k + 1; n < fused.dims.size(); n++) below *= dims[fused.dims[n]];
    if (below == 0) return;
    size_t level = format.level_of(fused.dims[k]);
    int64_t first = range.lo / below, last = (range.hi - 1) / below;
    auto part = [&](Range digits, Range rest) {
      if (digits.size() <= 0) return;
      std::vector<Range> next = sides;
      next[level] = digits;
      walk(k + 1, rest, next);
    };
    if (first == last) return part({first, first + 1}, {range.lo - first * below, range.hi - first * below});
    int64_t whole_lo = range.lo % below == 0 ? first : first + 1, whole_hi = range.hi % below == 0 ? last + 1 : last;
    if (whole_lo > first) part({first, first + 1}, {range.lo % below, below});
    part({whole_lo, whole_hi}, {0, below});
    if (whole_hi <= last) part({last, last + 1}, {0, range.hi - last * below});
  };
  std::vector<Range> sides;
  for (int dim : format.mode_order()) sides.push_back({0, dims[size_t(dim)]});
  walk(0, fused.range, sides);
  return Space::from_rects(int(dims.size()), all) & within;
}

}  // namespace

Partition held_by(const Home& home, const Space& universe) {
  std::vector<Space> pieces;
  for (int64_t c = home.colours().lo; c < home.colours().hi; c++) {
    const Share& share = home.shares().of[size_t(c)];
    Space held = home.order() == 0 ? universe : product_of(home.format(), share.coordinates);
    for (const FusedRange& fused : share.fused) held = fused_part(home.format(), home.dims(), fused, held);
    for (const PositionBlock& positions : share.positions) {
      // Positions of dense levels are row-major numbers of their coordinates.
      FusedRange fused{{}, {}};
      int64_t count = 1;
      for (size_t level = 0; level <= positions.level; level++) {
        fused.dims.push_back(size_t(home.format().mode_order()[level]));
        count *= home.dims()[fused.dims.back()];
      }
      fused.range = positions.of(numbers_of(positions, Tree(home.format(), home.dims())));
      held = fused_part(home.format(), home.dims(), fused, held);
    }
    pieces.push_back(std::move(held));
  }
  return Partition(home.shares().grid, universe, home.colours(), std::move(pieces));
}

namespace {

const std::byte* bytes_of(const Storage& storage, Copies copies) {
  return copies == Copies::OfHost ? storage.value_bytes() : storage.value_address();
}

std::shared_ptr<memory::Buffer> memory_of(const Storage& storage, Copies copies) {
  std::span<std::byte> bytes{const_cast<std::byte*>(bytes_of(storage, copies)),
                             size_t(storage.nnz()) * size_of(storage.type())};
  return std::make_shared<memory::Buffer>(memory::Buffer::borrowed(bytes));
}

}  // namespace

Instance instance_of(const Storage& storage, Layout layout, Copies copies) {
  return instance_of(storage, std::make_shared<const Layout>(std::move(layout)), copies);
}
Instance instance_of(const Storage& storage, std::shared_ptr<const Layout> layout, Copies copies) {
  std::shared_ptr<memory::Buffer> memory = memory_of(storage, copies);
  return Instance(storage.type(), std::move(layout), std::move(memory),
                  copies == Copies::OfDevices ? &storage.value_mirror() : nullptr);
}

void add_memory(MemoryBound& to, const Storage& storage, Copies copies) {
  to.push_back(bytes_of(storage, copies));
  if (copies == Copies::OfDevices) to.push_back(&storage.value_mirror());
}

Instances moved_to(const Instances& instances, const Home& home) {
  Instances out(instances.colours());
  for (int64_t c = out.colours().lo; c < out.colours().hi; c++)
    out.add(instance_of(home.piece(c), instances[c].shared_layout(),
                        instances[c].mirror() ? Copies::OfDevices : Copies::OfHost));
  return out;
}

Instances home_instances(const Home& home, Copies copies) {
  Instances out(home.colours());
  for (int64_t c = home.colours().lo; c < home.colours().hi; c++)
    out.add(instance_of(home.piece(c), Layout::box(Space(box_of(home.piece(c)))), copies));
  return out;
}

}  // namespace spdistal
