#include "tensor/share.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/hash.hpp"
#include "format/questions.hpp"
#include "tensor/tree.hpp"

namespace spdistal {

using runtime::Space;

namespace {

// How many numbers fused coordinates have, nothing where they cannot be counted.
std::optional<int64_t> fused_extent(std::span<const size_t> fused, const std::vector<int64_t>& dims) {
  if (std::any_of(fused.begin(), fused.end(), [&](size_t d) { return dims[d] == 0; })) return 0;
  int64_t product = 1;
  for (size_t d : fused)
    if (__builtin_mul_overflow(product, dims[d], &product)) return std::nullopt;
  return product;
}

// What a range of fused numbers allows of each of its dimensions.
std::vector<Range> sides_of(const FusedRange& fused, const std::vector<int64_t>& dims) {
  int64_t extent = *fused_extent(fused.dims, dims);
  std::vector<Range> sides(fused.dims.size());
  int64_t first = std::max<int64_t>(0, fused.range.lo), last = std::min(extent, fused.range.hi) - 1;
  if (first > last) return sides;
  for (size_t k = fused.dims.size(); k-- > 0;) {
    int64_t dim = dims[fused.dims[k]];
    sides[k] = {first % dim, last % dim + 1};
    first /= dim, last /= dim;
  }
  // Below two coordinates or more, every coordinate occurs between them.
  bool several = false;
  for (size_t k = 0; k < sides.size(); k++) {
    if (several) sides[k] = {0, dims[fused.dims[k]]};
    several = several || sides[k].size() != 1;
  }
  return sides;
}

// The sets that coordinates and fused numbers allow; nothing where one of them is empty.
std::optional<std::vector<Space>> allowed(const Share& share, const std::vector<int64_t>& dims) {
  std::vector<Space> sets = share.coordinates;
  for (const FusedRange& fused : share.fused) {
    std::vector<Range> sides = sides_of(fused, dims);
    for (size_t k = 0; k < sides.size(); k++) {
      Space& set = sets[fused.dims[k]];
      set = set & Space::interval(sides[k].lo, sides[k].hi);
    }
  }
  if (std::any_of(sets.begin(), sets.end(), [](const Space& set) { return set.empty(); })) return std::nullopt;
  return sets;
}

bool within(const FusedRange& fused, const std::vector<size_t>& dims) {
  return std::all_of(fused.dims.begin(), fused.dims.end(),
                     [&](size_t d) { return std::find(dims.begin(), dims.end(), d) != dims.end(); });
}

}  // namespace

int64_t NestedParts::count() const {
  int64_t out = 1;
  for (const Part& part : parts) out *= part.of;
  return out;
}

int64_t NestedParts::number() const {
  int64_t out = 0;
  for (const Part& part : parts) out = out * part.of + part.number;
  return out;
}

Range NestedParts::of(int64_t things) const {
  Range out{0, things};
  int64_t size = things;  // of the part if it were full
  for (const Part& part : parts) {
    size = block_size(size, part.of);
    out.lo = size == 0 || part.number > out.size() / size ? out.hi : out.lo + part.number * size;
    out.hi = out.lo + std::min(out.size(), size);
  }
  return out;
}

int64_t NestedParts::number_with(int64_t things, int64_t thing) const {
  int64_t out = 0, size = things;
  for (const Part& part : parts) {
    size = block_size(size, part.of);
    out = out * part.of + thing / size;
    thing %= size;
  }
  return out;
}

bool NestedParts::are_alike(const NestedParts& other) const {
  return std::equal(parts.begin(), parts.end(), other.parts.begin(), other.parts.end(),
                    [](const Part& a, const Part& b) { return a.of == b.of; });
}

Range numbers_of(const PositionBlock& split, const Tree& tree) {
  int64_t all = tree.per_node(split.level);
  if (!split.rows) return {0, all};
  int64_t each = tree.extent(0) == 0 ? 0 : all / tree.extent(0);
  return {split.rows->lo * each, split.rows->hi * each};
}

Share whole_share(const std::vector<int64_t>& dims) {
  Share out;
  for (int64_t dim : dims) out.coordinates.push_back(Space::interval(0, dim));
  return out;
}

Shares undivided(const std::vector<int64_t>& dims) { return {runtime::ColourGrid({}), {whole_share(dims)}}; }

Shares blocked(const Format& format, const std::vector<int64_t>& dims, int64_t colours) {
  Shares out{runtime::ColourGrid({colours}), {}};
  for (int64_t colour = 0; colour < colours; colour++) {
    Share& share = out.of.emplace_back(whole_share(dims));
    if (dims.empty()) continue;
    size_t first = size_t(format.mode_order()[0]);
    Range mine = block(dims[first], colours, colour);
    share.coordinates[first] = Space::interval(mine.lo, mine.hi);
  }
  return out;
}

namespace {

// Blocks of rows whose positions are counted by themselves.
Result<> check_rows(const PositionBlock& block, const Share& share, const Format& format,
                    const std::vector<int64_t>& dims) {
  auto refuse = [](const char* message) { return Diagnostic{message, {}, {}}; };
  const Space& rows = share.coordinates[size_t(format.mode_order()[0])];
  if (rows != Space::interval(block.rows->lo, block.rows->hi))
    return refuse("takes positions below others than its coordinates of the first level");
  Tree tree(format, dims);
  if (tree.counted_at(block.level) &&
      (block.level >= tree.tail() || !is_ordered(format.levels()[0]) || fills_between(format.levels()[0])))
    return refuse("takes positions of rows at a level that does not store them one after the other");
  return {};
}

}  // namespace

Result<> check(const Shares& shares, const Format& format, const std::vector<int64_t>& dims) {
  auto refuse = [](std::string message) { return Diagnostic{std::move(message), {}, {}}; };
  if (format.order() != dims.size())
    return Diagnostic{fmt::format("a tensor of order {} does not go into format '{}' of order {}", dims.size(),
                                  format.str(), format.order()),
                      {},
                      "a format has one level for each dimension"};
  if (int64_t(shares.of.size()) != shares.grid.count())
    return refuse(fmt::format("there are {} shares for {} colours", shares.of.size(), shares.grid.count()));
  const Share* first = nullptr;
  for (size_t c = 0; c < shares.of.size(); c++) {
    const Share& share = shares.of[c];
    auto refuse_share = [&](const std::string& message) {
      return refuse(fmt::format("the share of colour {} {}", c, message));
    };
    if (share.coordinates.size() != dims.size())
      return refuse_share(
          fmt::format("has {} sets of coordinates for {} dimensions", share.coordinates.size(), dims.size()));
    for (size_t d = 0; d < dims.size(); d++) {
      if (share.coordinates[d].dims() != 1) return refuse_share("has a set that is not one of numbers");
      if (!contains(Space::interval(0, dims[d]), share.coordinates[d]))
        return refuse_share(fmt::format("reaches outside dimension {}, whose size is {}", d, dims[d]));
    }
    for (const FusedRange& fused : share.fused) {
      for (size_t d : fused.dims)
        if (d >= dims.size()) return refuse_share(fmt::format("fuses dimension {}, which does not exist", d));
      if (!fused_extent(fused.dims, dims))
        return Diagnostic{"fused dimensions have more elements together than can be counted (2^63)",
                          {},
                          "split one of the dimensions, or the non-zeros"};
    }
    for (const PositionBlock& block : share.positions)
      for (const auto& [part, of] : block.part.parts)
        if (block.level >= dims.size() || of < 1 || part < 0 || part >= of)
          return refuse_share(fmt::format("takes part {} of {} of level {}", part, of, block.level));
    if (holds_nothing(share, dims)) continue;
    for (const PositionBlock& block : share.positions)
      if (block.rows)
        if (Result<> suits = check_rows(block, share, format, dims); !suits)
          return refuse_share(suits.refusal().message);
    if (!first) first = &share;
    bool alike = first->positions.size() == share.positions.size();
    for (size_t k = 0; alike && k < share.positions.size(); k++)
      alike = first->positions[k].level == share.positions[k].level &&
              first->positions[k].part.are_alike(share.positions[k].part) &&
              first->positions[k].rows.has_value() == share.positions[k].rows.has_value();
    if (!alike) return refuse_share("splits other positions than that of another colour");
  }
  return {};
}

Shares simplified(Shares shares, const Format& format, const std::vector<int64_t>& dims) {
  Tree tree(format, dims);
  for (Share& share : shares.of) {
    for (const PositionBlock& split : share.positions) {
      if (tree.counted_at(split.level)) continue;
      std::vector<size_t> fused(format.mode_order().begin(),
                                format.mode_order().begin() + std::ptrdiff_t(split.level) + 1);
      share.fused.push_back({std::move(fused), split.of(numbers_of(split, tree))});
    }
    std::erase_if(share.positions,
                  [&](const PositionBlock& split) { return split.part.count() == 1 || !tree.counted_at(split.level); });
    std::stable_sort(share.positions.begin(), share.positions.end(),
                     [](const PositionBlock& a, const PositionBlock& b) { return a.level < b.level; });
    std::erase_if(share.fused, [&](FusedRange& fused) {
      Range all{0, *fused_extent(fused.dims, dims)};
      fused.range = runtime::common(fused.range, all);
      return fused.range == all;
    });
  }
  return shares;
}

int64_t fused_number(std::span<const size_t> dims_fused, const std::vector<int64_t>& dims,
                     std::span<const int64_t> at) {
  int64_t number = 0;
  for (size_t d : dims_fused) number = number * dims[d] + at[d];
  return number;
}

bool admits(const Share& share, const std::vector<int64_t>& dims, std::span<const int64_t> at) {
  for (size_t d = 0; d < at.size(); d++)
    if (!share.coordinates[d].contains(at[d])) return false;
  return std::all_of(share.fused.begin(), share.fused.end(),
                     [&](const FusedRange& fused) { return fused.range.contains(fused_number(fused.dims, dims, at)); });
}

std::vector<Range> hull(const Share& share, const std::vector<int64_t>& dims) {
  std::vector<Range> out(dims.size());
  if (share == whole_share(dims)) {  // of a tensor without elements, too
    for (size_t d = 0; d < dims.size(); d++) out[d] = {0, dims[d]};
  } else if (auto sets = allowed(share, dims))
    for (size_t d = 0; d < dims.size(); d++) out[d] = (*sets)[d].bounding()[0];
  return out;
}

bool holds_nothing(const Share& share, const std::vector<int64_t>& dims) { return !allowed(share, dims); }

bool may_meet(const Share& a, const Share& b, const Format& format, size_t levels) {
  std::vector<size_t> dims(format.mode_order().begin(), format.mode_order().begin() + std::ptrdiff_t(levels));
  for (size_t d : dims)
    if (!intersects(a.coordinates[d], b.coordinates[d])) return false;
  for (const FusedRange& x : a.fused)
    for (const FusedRange& y : b.fused)
      if (x.dims == y.dims && within(x, dims) && runtime::is_empty(runtime::common(x.range, y.range))) return false;
  for (const PositionBlock& x : a.positions)
    for (const PositionBlock& y : b.positions)
      if (x.level == y.level && x.part.are_alike(y.part) && x.part != y.part && x.level < levels) return false;
  return true;
}

namespace {

// What a share holds of each of the first levels, and of the parts of their positions.
std::vector<std::vector<Range>> boxes_of(const Shares& shares, const Format& format, const std::vector<int64_t>& dims,
                                         size_t levels) {
  std::vector<std::vector<Range>> out;
  size_t splits = 0;
  for (const Share& share : shares.of) {
    std::vector<Range>& box = out.emplace_back();
    std::vector<Range> sides = hull(share, dims);
    for (size_t k = 0; k < levels; k++) box.push_back(sides[size_t(format.mode_order()[k])]);
    if (holds_nothing(share, dims)) continue;
    for (const PositionBlock& block : share.positions)
      if (block.level < levels) box.push_back({block.part.number(), block.part.number() + 1});
    splits = std::max(splits, box.size() - levels);
  }
  for (std::vector<Range>& box : out) box.resize(levels + splits);  // those that hold nothing have empty sides
  return out;
}

}  // namespace

ShareIndex::ShareIndex(const Shares& shares, const Format& format, const std::vector<int64_t>& dims, size_t levels)
    : boxes_(boxes_of(shares, format, dims, levels)), index_(boxes_) {}

std::vector<int64_t> ShareIndex::before(int64_t colour) const {
  std::vector<int64_t> out = index_.meeting(boxes_[size_t(colour)]);
  out.erase(std::lower_bound(out.begin(), out.end(), colour), out.end());
  return out;
}

bool covers(const Share& outer, const Share& inner) {
  for (size_t d = 0; d < outer.coordinates.size(); d++)
    if (!contains(outer.coordinates[d], inner.coordinates[d])) return false;
  auto among = [](const auto& conditions, const auto& others) {
    return std::all_of(conditions.begin(), conditions.end(), [&](const auto& condition) {
      return std::find(others.begin(), others.end(), condition) != others.end();
    });
  };
  return among(outer.fused, inner.fused) && among(outer.positions, inner.positions);
}

uint64_t hash(const Share& share) {
  Hasher out;
  for (const Space& set : share.coordinates)
    for (const Range& side : set.sides()) out.word(uint64_t(side.lo)), out.word(uint64_t(side.hi));
  for (const FusedRange& fused : share.fused) {
    out.all(std::span<const size_t>(fused.dims));
    out.word(uint64_t(fused.range.lo)), out.word(uint64_t(fused.range.hi));
  }
  for (const PositionBlock& block : share.positions) {
    out.word(block.level);
    if (block.rows) out.word(uint64_t(block.rows->lo)), out.word(uint64_t(block.rows->hi));
    for (const auto& [part, of] : block.part.parts) out.word(uint64_t(part)), out.word(uint64_t(of));
  }
  return out.value();
}

uint64_t hash(const Shares& shares) {
  Hasher out;
  out.all(shares.grid.extents());
  for (const Share& share : shares.of) out.word(hash(share));
  return out.value();
}

std::vector<int64_t> first_alike(const Shares& shares) {
  std::multimap<uint64_t, int64_t> seen;
  std::vector<int64_t> out;
  for (size_t c = 0; c < shares.of.size(); c++) {
    uint64_t key = hash(shares.of[c]);
    auto [lo, hi] = seen.equal_range(key);
    auto same =
        std::find_if(lo, hi, [&](const auto& other) { return shares.of[size_t(other.second)] == shares.of[c]; });
    out.push_back(same == hi ? int64_t(c) : same->second);
    if (same == hi) seen.emplace(key, int64_t(c));
  }
  return out;
}

}  // namespace spdistal
