#include "machine/print.hpp"

#include <fmt/format.h>

#include "base/node.hpp"
#include "base/text.hpp"

namespace spdistal {

std::string print(const Extent& extent) {
  if (std::optional<int64_t> value = extent.value()) return std::to_string(*value);
  const std::string& name = extent.param()->symbol().name();
  return name.empty() ? "?" : name;
}

std::string print(const Machine& machine) {
  return join(machine.levels(), "/", [](const Grid& grid) {
    std::string dims = join(grid.extents(), "x", [](const Extent& e) { return print(e); });
    return dims + (grid.kind() == GPU ? ",gpu" : "");
  });
}

DistributionPrinter::DistributionPrinter(const Distribution& distribution) : distribution_(distribution) {
  names_.reserve("M");
  for (const DistVar& dim : distribution.dims()) name(dim);
  for (const DistFusion& fusion : distribution.fusions()) {
    for (const DistVar& part : fusion.vars) name(part);
    static constexpr std::string_view fused[] = {"f", "g", "h"};
    names_.of(fusion.fused, fused);
  }
}

std::string DistributionPrinter::name(const DistVar& var) const {
  static constexpr std::string_view alphabet[] = {"x", "y", "z", "w", "u", "v"};
  return names_.of(var, alphabet);
}

std::string DistributionPrinter::dims() const {
  return join(distribution_.dims(), ",", [&](const DistVar& v) { return name(v); });
}

std::string DistributionPrinter::placements() const {
  auto place = [&](const Placement& p) {
    return std::visit(detail::Overloaded{[&](const DistVar& v) { return name(v); },
                                         [&](const NonZero& v) { return "~" + name(v.var); },
                                         [&](int64_t coordinate) { return std::to_string(coordinate); }},
                      p.what());
  };
  std::string levels = join(distribution_.levels(), "/",
                            [&](const std::vector<Placement>& level) { return "(" + join(level, ",", place) + ")"; });
  return "M" + levels;
}

std::string DistributionPrinter::statement(std::string_view tensor) const {
  std::string fusions;
  for (const DistFusion& fusion : distribution_.fusions()) {
    fusions += " fuse(";
    for (const DistVar& part : fusion.vars) fusions += name(part) + ",";
    fusions += name(fusion.fused) + ")";
  }
  return fmt::format("{}({}){} -> {}", tensor, dims(), fusions, placements());
}

}  // namespace spdistal
