#include "tensor/holders.hpp"

#include <algorithm>

#include "base/hash.hpp"
#include "base/require.hpp"

namespace spdistal {

using runtime::Space;

size_t Holders::Hash::operator()(const std::vector<Range>& cell) const {
  Hasher out;
  for (const Range& range : cell) out.word(uint64_t(range.lo) << 32 | uint64_t(range.hi));
  return out.value();
}

Range Holders::Axis::interval_of(int64_t x) const {
  int64_t i = std::upper_bound(cuts.begin(), cuts.end(), x) - cuts.begin() - 1;
  return {i, i + 1};
}

Holders::Holders(const Shares& shares, const Format& format, const std::vector<int64_t>& dims, std::vector<bool> listed)
    : dims_(dims), format_(format) {
  for (size_t c = 0; c < shares.of.size(); c++)
    if (listed[c] && !holds_nothing(shares.of[c], dims)) alive_.push_back(int64_t(c));
  if (alive_.empty()) return;
  for (size_t d = 0; d < dims.size(); d++) {
    Intervals conditions;
    for (int64_t c : alive_)
      for (const Range& side : shares.of[size_t(c)].coordinates[d].sides()) conditions.emplace_back(side, c);
    add_axis({d}, 0, conditions, {0, dims[d]});
  }
  std::vector<std::vector<size_t>> fusions;
  for (int64_t c : alive_)
    for (const FusedRange& fused : shares.of[size_t(c)].fused)
      if (std::find(fusions.begin(), fusions.end(), fused.dims) == fusions.end()) fusions.push_back(fused.dims);
  for (const std::vector<size_t>& fusion : fusions) {
    Intervals conditions;
    for (int64_t c : alive_) {
      Range range{INT64_MIN, INT64_MAX};
      for (const FusedRange& fused : shares.of[size_t(c)].fused)
        if (fused.dims == fusion) range = runtime::common(range, fused.range);
      conditions.emplace_back(range, c);
    }
    add_axis(fusion, 0, conditions, {INT64_MIN, INT64_MAX});
  }
  for (const PositionBlock& split : shares.of[size_t(alive_[0])].positions) {
    Intervals conditions;
    std::vector<Range> blocks;
    size_t s = splits_.size();
    for (int64_t c : alive_) {
      int64_t part = shares.of[size_t(c)].positions[s].part.number();
      conditions.emplace_back(Range{part, part + 1}, c);
      if (const auto& rows = shares.of[size_t(c)].positions[s].rows) blocks.push_back(*rows);
    }
    std::sort(blocks.begin(), blocks.end(), [](const Range& a, const Range& b) { return a.lo < b.lo; });
    blocks.erase(std::unique(blocks.begin(), blocks.end()), blocks.end());
    splits_.push_back({split.level, split.part, std::move(blocks)});
    add_axis({}, s, conditions, {0, split.part.count()});
  }
}

void Holders::add_axis(std::vector<size_t> dims, size_t split, const Intervals& conditions, Range all) {
  bool told = std::any_of(conditions.begin(), conditions.end(), [&](const auto& condition) {
    return condition.first.lo > all.lo || condition.first.hi < all.hi;
  });
  if (!told && conditions.size() == alive_.size()) return;  // everyone takes everything
  Axis axis{std::move(dims), split, {INT64_MIN}, {}};
  for (const auto& [range, colour] : conditions) axis.cuts.push_back(range.lo), axis.cuts.push_back(range.hi);
  std::sort(axis.cuts.begin(), axis.cuts.end());
  axis.cuts.erase(std::unique(axis.cuts.begin(), axis.cuts.end()), axis.cuts.end());
  axis.colours.resize(axis.cuts.size());
  for (const auto& [range, colour] : conditions)
    for (int64_t i = axis.interval_of(range.lo).lo; axis.cuts[size_t(i)] < range.hi; i++) {
      std::vector<int64_t>& here = axis.colours[size_t(i)];
      if (here.empty() || here.back() != colour) here.push_back(colour);
      if (size_t(i) + 1 == axis.cuts.size()) break;
    }
  axes_.push_back(std::move(axis));
}

std::span<const int64_t> Holders::in_cell() {
  if (!last_cell_.empty() && cell_ == last_cell_) return last_;
  if (cell_.empty()) return alive_;
  auto [place, fresh] = known_.try_emplace(cell_);
  if (fresh) {
    std::vector<int64_t> holders;
    for (size_t a = 0; a < axes_.size(); a++) {
      std::vector<int64_t> here;
      for (int64_t i = cell_[a].lo; i < cell_[a].hi; i++)
        here.insert(here.end(), axes_[a].colours[size_t(i)].begin(), axes_[a].colours[size_t(i)].end());
      if (cell_[a].size() > 1) {
        std::sort(here.begin(), here.end());
        here.erase(std::unique(here.begin(), here.end()), here.end());
      }
      if (a == 0) {
        holders = std::move(here);
        continue;
      }
      std::vector<int64_t> both;
      std::set_intersection(holders.begin(), holders.end(), here.begin(), here.end(), std::back_inserter(both));
      holders = std::move(both);
    }
    place->second = std::move(holders);
  }
  last_cell_ = cell_;
  return last_ = place->second;
}

std::span<const int64_t> Holders::of(std::span<const int64_t> at, std::span<const int64_t> parts) {
  cell_.clear();
  for (const Axis& axis : axes_) {
    int64_t x = axis.dims.empty()      ? parts[axis.split]
                : axis.dims.size() > 1 ? fused_number(axis.dims, dims_, at)
                                       : at[axis.dims[0]];
    cell_.push_back(axis.interval_of(x));
  }
  return in_cell();
}

std::span<const int64_t> Holders::of_any(std::span<const int64_t> at, size_t levels, std::span<const Range> parts) {
  auto is_known = [&](size_t d) { return format_.level_of(d) < levels; };
  cell_.clear();
  for (const Axis& axis : axes_) {
    Range all{0, int64_t(axis.cuts.size())};
    if (axis.dims.empty()) {
      Range part = parts[axis.split];
      cell_.push_back({axis.interval_of(part.lo).lo, axis.interval_of(part.hi - 1).hi});
    } else if (std::all_of(axis.dims.begin(), axis.dims.end(), is_known)) {
      cell_.push_back(axis.interval_of(axis.dims.size() > 1 ? fused_number(axis.dims, dims_, at) : at[axis.dims[0]]));
    } else {
      // The known ones among the first of fused dimensions bound the number; others may make it anything.
      int64_t lo = 0, hi = 1;
      for (bool bounded = true; size_t d : axis.dims) {
        bounded = bounded && is_known(d);
        lo = lo * dims_[d] + (bounded ? at[d] : 0);
        hi = (hi - 1) * dims_[d] + (bounded ? at[d] : dims_[d] - 1) + 1;
      }
      cell_.push_back(axis.dims.size() == 1 ? all : Range{axis.interval_of(lo).lo, axis.interval_of(hi - 1).hi});
    }
  }
  return in_cell();
}

}  // namespace spdistal
