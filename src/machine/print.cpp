#include "machine/print.hpp"

#include <fmt/format.h>

#include <algorithm>

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

std::string DistributionPrinter::name(const Placement& placement) const {
  return std::visit(
      detail::Overloaded{[&](const DistVar& v) { return name(v); }, [&](const NonZero& v) { return "~" + name(v.var); },
                         [&](int64_t coordinate) { return std::to_string(coordinate); }},
      placement.what());
}

Excerpt DistributionPrinter::excerpt(const DistributionPart& wanted, std::string_view tensor) const {
  using Kind = DistributionPart::Kind;
  Excerpt out{std::string(tensor), 0, 0};
  std::string& text = out.text;
  // Writes a part, and remembers where it stands if it is the one that is wanted.
  auto part = [&](DistributionPart what, auto&& write) {
    size_t begin = text.size();
    write();
    if (what == wanted) out.begin = begin, out.end = text.size();
  };
  auto list = [&](const auto& items, auto&& write) {
    text += "(";
    for (size_t k = 0; k < items.size(); k++) {
      if (k > 0) text += ",";
      write(k);
    }
    text += ")";
  };
  part({Kind::Dims}, [&] {
    list(distribution_.dims(), [&](size_t d) { part({Kind::Dim, d}, [&] { text += name(distribution_.dims()[d]); }); });
  });
  for (size_t f = 0; f < distribution_.fusions().size(); f++) {
    const DistFusion& fusion = distribution_.fusions()[f];
    text += " fuse(";
    for (size_t k = 0; k < fusion.vars.size(); k++) {
      part({Kind::FusedPart, f, k}, [&] { text += name(fusion.vars[k]); });
      text += ",";
    }
    part({Kind::FusedName, f}, [&] { text += name(fusion.fused); });
    text += ")";
  }
  text += " -> ";
  part({Kind::Placements}, [&] {
    text += "M";
    for (size_t level = 0; level < distribution_.levels().size(); level++) {
      if (level > 0) text += "/";
      const std::vector<Placement>& placements = distribution_.levels()[level];
      part({Kind::Level, level}, [&] {
        list(placements, [&](size_t d) { part({Kind::Placement, level, d}, [&] { text += name(placements[d]); }); });
      });
    }
  });
  return out;
}

std::string DistributionPrinter::statement(std::string_view tensor) const {
  return excerpt({DistributionPart::Kind::Dims}, tensor).text;
}

Excerpt as_written(const Excerpt& printed, std::string_view text) {
  // The two differ in the tensor's name and in blanks: what follows the first '(' is counted without them.
  auto is_blank = [](char c) { return c == ' ' || c == '\t' || c == '\n'; };
  auto marks = [&](std::string_view all) {
    std::vector<size_t> out;
    for (size_t at = std::min(all.find('('), all.size()); at < all.size(); at++)
      if (!is_blank(all[at])) out.push_back(at);
    return out;
  };
  std::vector<size_t> ours = marks(printed.text), theirs = marks(text);
  auto at = [&](size_t place) { return size_t(std::lower_bound(ours.begin(), ours.end(), place) - ours.begin()); };
  size_t begin = at(printed.begin), end = at(printed.end);
  if (ours.size() != theirs.size() || begin >= end) return {std::string(text), 0, text.size()};
  return {std::string(text), theirs[begin], theirs[end - 1] + 1};
}

}  // namespace spdistal
