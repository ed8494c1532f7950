#include "spdistal/distribution.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/text.hpp"
#include "machine/print.hpp"
#include "spdistal/error.hpp"

namespace spdistal {

const DistVar* Placement::var() const {
  if (auto* universe = std::get_if<DistVar>(&what_)) return universe;
  if (auto* non_zero = std::get_if<NonZero>(&what_)) return &non_zero->var;
  return nullptr;
}

Distribution::Distribution(std::vector<DistVar> dims, Machine machine, std::vector<Placement> placements)
    : Distribution(std::move(dims), std::vector<DistFusion>{}, std::move(machine), {std::move(placements)}) {}

Distribution::Distribution(std::vector<DistVar> dims, DistFusion fusion, Machine machine,
                           std::vector<Placement> placements)
    : Distribution(std::move(dims), std::vector{std::move(fusion)}, std::move(machine), {std::move(placements)}) {}

Distribution::Distribution(std::vector<DistVar> dims, std::vector<DistFusion> fusions, Machine machine,
                           std::vector<std::vector<Placement>> levels)
    : dims_(std::move(dims)), fusions_(std::move(fusions)), machine_(std::move(machine)), levels_(std::move(levels)) {
  check();
}

Distribution Distribution::then(std::vector<Placement> placements) const {
  std::vector<std::vector<Placement>> levels = levels_;
  levels.push_back(std::move(placements));
  return Distribution(dims_, fusions_, machine_, std::move(levels));
}

std::vector<size_t> Distribution::dims_of(const DistVar& var) const {
  for (size_t d = 0; d < dims_.size(); d++)
    if (dims_[d] == var) return {d};
  for (const DistFusion& fusion : fusions_)
    if (fusion.fused == var) {
      std::vector<size_t> out;
      for (const DistVar& part : fusion.vars) {
        std::vector<size_t> dims = dims_of(part);
        out.insert(out.end(), dims.begin(), dims.end());
      }
      return out;
    }
  return {};
}

namespace {

// Are the non-zeros of a fusion that a dimension goes into placed later, and all that is placed of the fusion?
bool stands_before_non_zeros(const Distribution& distribution, const DistVar& dim, size_t level, size_t at) {
  std::optional<DistVar> fused;
  for (const DistFusion& fusion : distribution.fusions())
    if (std::find(fusion.vars.begin(), fusion.vars.end(), fused.value_or(dim)) != fusion.vars.end())
      fused = fusion.fused;
  bool later = false;
  for (size_t l = 0; l < distribution.levels().size(); l++)
    for (size_t d = 0; d < distribution.levels()[l].size(); d++) {
      const Placement& placement = distribution.levels()[l][d];
      if (!placement.var() || !fused || !(*placement.var() == *fused)) continue;
      if (!std::holds_alternative<NonZero>(placement.what()) || std::pair(l, d) < std::pair(level, at)) return false;
      later = true;
    }
  return later;
}

}  // namespace

void Distribution::check() const {
  DistributionPrinter print(*this);
  using Kind = DistributionPart::Kind;
  auto refuse = [&](const DistributionPart& part, const std::string& message, const std::string& hint = {}) {
    throw UserError(Diagnostic{message, {print.excerpt(part)}, hint});
  };
  auto name = [&](const DistVar& v) { return print.name(v); };

  std::set<DistVar> known;
  for (size_t d = 0; d < dims_.size(); d++)
    if (!known.insert(dims_[d]).second)
      refuse({Kind::Dim, d}, fmt::format("{} names two dimensions of the tensor", name(dims_[d])),
             "give every dimension a name of its own");
  std::set<DistVar> fused_away;
  for (size_t f = 0; f < fusions_.size(); f++) {
    const DistFusion& fusion = fusions_[f];
    if (fusion.vars.size() < 2)
      refuse({Kind::FusedName, f}, "a fusion takes two dimensions or more", "write fuse({x, y}, f)");
    for (size_t k = 0; k < fusion.vars.size(); k++) {
      const DistVar& part = fusion.vars[k];
      if (!known.contains(part))
        refuse({Kind::FusedPart, f, k}, fmt::format("fuse: {} is no dimension of the tensor", name(part)),
               fmt::format("its dimensions are {}", print.dims()));
      if (!fused_away.insert(part).second)
        refuse({Kind::FusedPart, f, k}, fmt::format("{} is fused twice", name(part)),
               "a dimension goes into one fusion");
    }
    if (!known.insert(fusion.fused).second)
      refuse({Kind::FusedName, f}, fmt::format("fuse: {} is taken already", name(fusion.fused)),
             "the last name of a fusion is new");
  }

  if (levels_.size() > machine_.levels().size())
    refuse({Kind::Level, machine_.levels().size()},
           fmt::format("the distribution has {} levels, the machine {}", levels_.size(), machine_.levels().size()),
           "a machine of two levels is Machine(Grid(2), Grid(4)), or -m 2/4");
  std::map<DistVar, bool> by_non_zeros;  // of each dimension that an outer level partitions
  for (size_t level = 0; level < levels_.size(); level++) {
    const std::vector<Extent>& grid = machine_.levels()[level].extents();
    if (levels_[level].size() != grid.size())
      refuse({Kind::Level, level},
             fmt::format("{} name{} for a grid of {} dimension{}", levels_[level].size(),
                         levels_[level].size() == 1 ? "" : "s", grid.size(), grid.size() == 1 ? "" : "s"),
             "write one name for each dimension of the machine; one that names no tensor dimension replicates");
    std::set<DistVar> here;
    for (size_t d = 0; d < grid.size(); d++) {
      const Placement& placement = levels_[level][d];
      if (auto* coordinate = std::get_if<int64_t>(&placement.what())) {
        std::optional<int64_t> size = grid[d].value();
        if (*coordinate < 0 || (size && *coordinate >= *size))
          refuse({Kind::Placement, level, d},
                 fmt::format("coordinate {} is outside the machine's {} dimension", *coordinate, ordinal(d)),
                 size ? fmt::format("it has coordinates 0 to {}", *size - 1) : "coordinates count from 0");
        continue;
      }
      const DistVar& var = *placement.var();
      if (!here.insert(var).second)
        refuse({Kind::Placement, level, d}, fmt::format("{} stands for two dimensions of one grid", name(var)),
               "give each its own name; one that names no tensor dimension replicates");
      bool non_zero = std::holds_alternative<NonZero>(placement.what());
      if (fused_away.contains(var) && (non_zero || !stands_before_non_zeros(*this, var, level, d)))
        refuse({Kind::Placement, level, d}, fmt::format("{} is fused and cannot be placed by itself", name(var)),
               "place the fused name instead, or after it the non-zeros of what it is fused into: M(x,~f)");
      if (non_zero && !known.contains(var))
        refuse({Kind::Placement, level, d}, fmt::format("~{}: {} is no dimension of the tensor", name(var), name(var)),
               fmt::format("its dimensions are {}; a name without ~ replicates", print.dims()));
      if (!known.contains(var)) continue;
      if (by_non_zeros.try_emplace(var, non_zero).first->second != non_zero)
        refuse({Kind::Placement, level, d},
               fmt::format("{} is partitioned by coordinates on one level and by non-zeros on another", name(var)),
               fmt::format("write ~{} on both, or on neither", name(var)));
    }
  }
}

}  // namespace spdistal
