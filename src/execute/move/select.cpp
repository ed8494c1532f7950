#include "execute/move/select.hpp"

#include <algorithm>
#include <atomic>
#include <map>

#include "base/require.hpp"
#include "level/kernel.hpp"
#include "level/level.hpp"
#include "runtime/partition/by_bounds.hpp"
#include "runtime/partition/by_value_ranges.hpp"
#include "runtime/partition/by_value_set.hpp"
#include "runtime/partition/copy.hpp"
#include "runtime/partition/flatten.hpp"
#include "runtime/partition/image.hpp"
#include "runtime/partition/image_by_value.hpp"
#include "runtime/partition/intersection.hpp"
#include "runtime/partition/preimage.hpp"
#include "tensor/iterate.hpp"

namespace spdistal {

using plan::Op;
using runtime::Partition;
using runtime::Space;

namespace {

// The number of an operator, or none: of an optional one, clang would ask another library.
constexpr int no_operator = -1;
std::atomic<int> emptied = no_operator;

Space all_positions(const LevelArrays& level) { return Space::interval(0, level.positions); }

int64_t parents_of(const Storage& piece, size_t level) {
  return level == 0 ? 1 : piece.pattern().level(level - 1).positions;
}

// { p * extent + (x - lo) : p a parent, x in the set }.
Space dense_positions(const LevelArrays& level, int64_t parents, const Space& coordinates) {
  Space here = coordinates & Space::interval(level.range.lo, level.range.hi);
  if (here.empty()) return here;
  int64_t extent = level.range.size();
  if (here.size() == extent) return all_positions(level);
  std::vector<Range> runs;
  runs.reserve(size_t(parents) * here.rect_count());
  for (int64_t p = 0; p < parents; p++)
    for (const Range& r : here.sides())
      runs.push_back({p * extent + r.lo - level.range.lo, p * extent + r.hi - level.range.lo});
  return Space::from_intervals(std::move(runs));
}

// { lo + p % extent : p in the set }.
Space dense_coordinates(const LevelArrays& level, const Space& positions) {
  int64_t extent = level.range.size();
  std::vector<Range> runs;
  for (const Range& r : positions.sides()) {
    if (r.size() >= extent) return Space::interval(level.range.lo, level.range.hi);
    int64_t lo = r.lo % extent, hi = lo + r.size();
    runs.push_back({level.range.lo + lo, level.range.lo + std::min(hi, extent)});
    if (hi > extent) runs.push_back({level.range.lo, level.range.lo + hi - extent});
  }
  return Space::from_intervals(std::move(runs));
}

// The coordinates of all positions: an array of the level, or written out.
IndexArray coordinates_of(const Storage& piece, size_t k) {
  const LevelFormat& format = piece.format().levels()[k];
  const LevelArrays& level = piece.pattern().level(k);
  if (const IndexArray* stored = find_array(format, level, Holds::Coordinates)) return *stored;
  Array<int64_t> coordinate(level.positions), parent(level.positions);
  functions_of(format).expand(level, parents_of(piece, k), coordinate, parent);
  return IndexArray::make(level.positions, IndexWidth::Int64,
                          [&](auto* out) { std::copy(coordinate.begin(), coordinate.end(), out); });
}

const IndexArray& segments_of(const Storage& piece, size_t k) {
  const IndexArray* found = find_array(piece.format().levels()[k], piece.pattern().level(k), Holds::Segments);
  require(found != nullptr, "images and preimages are those of levels whose positions add up");
  return *found;
}

class Selector {
 public:
  Selector(const plan::AccessPlan& access, const Storage& piece, int64_t base, const runtime::ColourGrid& grid,
           const std::vector<Need>& needs)
      : access_(access), piece_(piece), base_(base), grid_(grid), needs_(needs) {}

  Selected run() {
    size_t last = access_.dims.size() - 1;
    Space all = all_positions(piece_.pattern().level(last));
    for (const plan::PartitionStatement& s : access_.partitions)
      if (s.op != Op::Init && s.op != Op::Entry) partitions_.insert_or_assign(s.out, outcome(s));
    auto found = partitions_.find({last, plan::LevelPart::Positions, plan::Name::whole});
    Space stored = stored_positions(piece_.pattern());
    std::vector<Space> pieces;
    for (int64_t c = 0; c < grid_.count(); c++) {
      const std::vector<Space>& sets = needs_[size_t(c)].coordinates;
      bool none = std::any_of(sets.begin(), sets.end(), [](const Space& set) { return set.empty(); });
      pieces.push_back(none ? Space(1) : found == partitions_.end() ? stored : found->second[c] & stored);
    }
    Selected out{Partition(grid_, all, std::move(pieces)), {}};
    for (size_t k = 0; k <= last; k++) {
      auto level = partitions_.find({k, plan::LevelPart::Positions, plan::Name::whole});
      out.levels.push_back(level == partitions_.end() ? std::nullopt : std::optional(level->second));
    }
    return out;
  }

 private:
  Partition outcome(const plan::PartitionStatement& s) {
    if (is_emptied(s.op)) return by_colour(s.out, [](const Need&) { return Space(1); });
    return apply_to(s);
  }

  const Partition& in(const plan::PartitionStatement& s) { return partitions_.at(s.in[0]); }

  Space universe(const plan::Name& name) const {
    return name.part == plan::LevelPart::Parents ? Space::interval(0, parents_of(piece_, name.level))
                                                 : all_positions(piece_.pattern().level(name.level));
  }

  template <class F>
  Partition by_colour(const plan::Name& out, F&& f) {
    std::vector<Space> pieces;
    for (const Need& need : needs_) pieces.push_back(f(need));
    return Partition(grid_, universe(out), std::move(pieces));
  }

  Partition apply_to(const plan::PartitionStatement& s) {
    const LevelArrays& level = piece_.pattern().level(s.out.level);
    size_t dim = access_.dims[s.out.level];
    switch (s.op) {
      case Op::ByBounds:
        if (s.colouring == plan::Colouring::NonZero) {
          std::vector<runtime::Rect> bounds;
          for (const Need& need : needs_)
            bounds.push_back(runtime::Rect{{need.positions->lo - base_, need.positions->hi - base_}});
          return runtime::by_bounds(grid_, universe(s.out), bounds);
        }
        return by_colour(s.out, [&](const Need& need) {
          return dense_positions(level, parents_of(piece_, s.out.level), need.coordinates[dim]);
        });
      case Op::ByValueRanges: {
        std::vector<Range> ranges;
        for (const Need& need : needs_) ranges.push_back(need.coordinates[dim].bounding()[0]);
        return coordinates_of(piece_, s.out.level).visit([&](auto crd) {
          using I = std::remove_cv_t<typename decltype(crd)::element_type>;
          return runtime::by_value_ranges(grid_, universe(s.out), ranges, runtime::LocalCrd<I>{crd, 0});
        });
      }
      case Op::ByValueSet: {
        std::vector<Space> sets;
        for (const Need& need : needs_) sets.push_back(need.coordinates[dim]);
        Partition coordinates(grid_, Space::interval(0, piece_.dims()[dim]), std::move(sets));
        return coordinates_of(piece_, s.out.level).visit([&](auto crd) {
          using I = std::remove_cv_t<typename decltype(crd)::element_type>;
          return runtime::by_value_set(coordinates, universe(s.out), runtime::LocalCrd<I>{crd, 0});
        });
      }
      case Op::Image:
        return segments_of(piece_, s.out.level).visit([&](auto pos) {
          using I = std::remove_cv_t<typename decltype(pos)::element_type>;
          return runtime::image(in(s), universe(s.out), runtime::LocalPos<I>{pos, 0, 0});
        });
      case Op::Preimage:
        return segments_of(piece_, s.out.level).visit([&](auto pos) {
          using I = std::remove_cv_t<typename decltype(pos)::element_type>;
          return runtime::preimage(in(s), universe(s.out), runtime::LocalPos<I>{pos, 0, 0});
        });
      case Op::Expand: return runtime::expand(in(s), level.range.size());
      case Op::Contract:
        if (level.range.size() == 0) return by_colour(s.out, [](const Need&) { return Space(1); });
        return runtime::contract(in(s), level.range.size());
      case Op::Copy: return in(s);
      case Op::Intersect: {
        Partition out = in(s);
        for (size_t k = 1; k < s.in.size(); k++) out = runtime::intersection(out, partitions_.at(s.in[k]));
        return out;
      }
      default: require(false, "colourings are no partitions"); return in(s);
    }
  }

  const plan::AccessPlan& access_;
  const Storage& piece_;
  int64_t base_;
  const runtime::ColourGrid& grid_;
  const std::vector<Need>& needs_;
  std::map<plan::Name, Partition> partitions_;
};

// Positions of a level of a dense tensor, as the coordinates that they stand for along each level down to it.
class CoordinateSelector {
 public:
  CoordinateSelector(const plan::AccessPlan& access, const Need& need)
      : access_(access), dims_(notation::known_dims(access.access.tensor)), need_(need) {}

  std::vector<Space> run() {
    for (const plan::PartitionStatement& s : access_.partitions)
      if (s.op != Op::Init && s.op != Op::Entry) partitions_.insert_or_assign(s.out, outcome(s));
    auto found = partitions_.find({access_.dims.size() - 1, plan::LevelPart::Positions, plan::Name::whole});
    Sets sets = found == partitions_.end() ? everything(access_.dims.size()) : found->second;
    auto none = [](const auto& all) { return std::ranges::any_of(all, &Space::empty); };
    std::vector<Space> out(dims_.size(), Space(1));
    if (none(sets) || none(need_.coordinates)) return out;
    for (size_t level = 0; level < sets.size(); level++) out[access_.dims[level]] = std::move(sets[level]);
    return out;
  }

 private:
  using Sets = std::vector<Space>;  // by level

  Space all(size_t level) const { return Space::interval(0, dims_[access_.dims[level]]); }
  Sets everything(size_t levels) const {
    Sets out;
    for (size_t level = 0; level < levels; level++) out.push_back(all(level));
    return out;
  }

  Sets outcome(const plan::PartitionStatement& s) const {
    size_t levels = s.out.level + (s.out.part == plan::LevelPart::Positions ? 1 : 0);
    if (is_emptied(s.op)) return Sets(levels, Space(1));
    Sets out = s.in.empty() ? everything(levels) : partitions_.at(s.in[0]);
    switch (s.op) {
      case Op::ByBounds:
        require(s.colouring == plan::Colouring::Universe, "positions of dense tensors are found by coordinates");
        out.back() = need_.coordinates[access_.dims[s.out.level]];
        return out;
      case Op::Expand: out.push_back(all(s.out.level)); return out;
      case Op::Contract:
        if (out.back().empty()) return Sets(levels, Space(1));
        out.pop_back();
        return out;
      case Op::Copy: return out;
      case Op::Intersect:
        for (size_t k = 1; k < s.in.size(); k++)
          for (size_t level = 0; level < levels; level++) out[level] = out[level] & partitions_.at(s.in[k])[level];
        return out;
      default: require(false, "dense levels are partitioned by coordinates"); return out;
    }
  }

  const plan::AccessPlan& access_;
  std::vector<int64_t> dims_;
  const Need& need_;
  std::map<plan::Name, Sets> partitions_;
};

}  // namespace

std::vector<Space> select_coordinates(const plan::AccessPlan& access, const Need& need) {
  if (access.dims.empty()) return {};
  return CoordinateSelector(access, need).run();
}

Selected select(const plan::AccessPlan& access, const Storage& piece, int64_t base, const runtime::ColourGrid& colours,
                const std::vector<Need>& needs) {
  return Selector(access, piece, base, colours, needs).run();
}

void set_emptied(std::optional<Op> op) { emptied = op ? int(*op) : no_operator; }
bool is_emptied(Op op) { return emptied.load(std::memory_order_relaxed) == int(op); }

Space stored_positions(const Pattern& pattern) { return Space::from_intervals(stored_runs(pattern)); }

Space occurring(const Storage& piece, size_t level) {
  return occurring(piece, level, stored_positions(piece.pattern()));
}

Space occurring(const Storage& piece, size_t level, Space positions) {
  const Pattern& pattern = piece.pattern();
  if (pattern.nnz() == 0 || positions.empty()) return Space(1);
  // Up from the stored elements, level by level.
  for (size_t k = pattern.order() - 1; k > level; k--) {
    Op to_parents = functions_of(pattern.format().levels()[k]).partition.from_child({k}).back().op;
    if (to_parents == Op::Contract) positions = runtime::contract(positions, pattern.level(k).range.size());
    else if (to_parents == Op::Preimage)
      positions = segments_of(piece, k).visit([&](auto pos) {
        using I = std::remove_cv_t<typename decltype(pos)::element_type>;
        return runtime::preimage(positions, runtime::LocalPos<I>{pos, 0, 0});
      });
  }
  return coordinates_at(piece, level, positions);
}

Space coordinates_at(const Storage& piece, size_t level, const Space& positions) {
  const LevelArrays& arrays = piece.pattern().level(level);
  if (positions.empty()) return Space(1);
  if (has_places(piece.format().levels()[level])) return dense_coordinates(arrays, positions);
  return coordinates_of(piece, level).visit([&](auto crd) {
    using I = std::remove_cv_t<typename decltype(crd)::element_type>;
    return runtime::image_by_value(positions, runtime::LocalCrd<I>{crd, 0});
  });
}

}  // namespace spdistal
