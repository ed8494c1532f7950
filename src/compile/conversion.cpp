#include "compile/conversion.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/text.hpp"
#include "format/fill.hpp"
#include "format/questions.hpp"
#include "notation/concretize.hpp"
#include "notation/presence.hpp"

namespace spdistal {

using namespace notation;

namespace {

// The dimensions of an access in the order of the loops over them. One of which a single coordinate is taken suits any, and
// stays where it is.
std::vector<int> order_of_loops(const notation::Access& access, const std::vector<IndexVar>& loops) {
  std::vector<std::pair<long, int>> dims;  // with the depths of their loops
  for (int dim : access.tensor.format().mode_order()) {
    std::optional<IndexVar> var = variable_of(access.indices[size_t(dim)]);
    long before = dims.empty() ? 0 : dims.back().first;
    dims.emplace_back(var ? std::find(loops.begin(), loops.end(), *var) - loops.begin() : before, dim);
  }
  std::stable_sort(dims.begin(), dims.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<int> out;
  for (const auto& [depth, dim] : dims) out.push_back(dim);
  return out;
}

// All of a tensor that a window is taken of, by variables of its own.
std::vector<IndexVar> without_windows(const std::vector<IndexVar>& indices) {
  std::vector<IndexVar> out;
  for (const IndexVar& index : indices)
    out.push_back(index.window() ? IndexVar(index.window()->of ? index.window()->of->name() : "") : index);
  return out;
}

// Tensors of which it matters what is stored: a copy has no places for more.
std::set<TensorVar> told_from_nothing(const Expr& rhs) {
  std::set<TensorVar> out = told_from_zeros(rhs);
  each<Call>(rhs, [&](const Call& n) {
    if (n.domain == Domain::Stored)
      each<notation::Access>(n.args[0], [&](const notation::Access& a) { out.insert(a.tensor); });
  });
  return out;
}

// May a copy with these levels store what the original does not?
bool has_places_for_more(const std::vector<LevelFormat>& levels) {
  return stores_all(levels.back()) || fills_between(levels.back());
}

}  // namespace

Converted insert_conversions(const Assignment& assignment) {
  Converted out{assignment, {}};
  std::vector<IndexVar> loops = loop_order(assignment);
  std::set<TensorVar> exact = told_from_nothing(assignment.rhs);
  out.assignment.rhs = rewrite(assignment.rhs, [&](const notation::Access& access) -> Expr {
    const Format& format = access.tensor.format();
    std::set<IndexVar> distinct(access.indices.begin(), access.indices.end());
    std::vector<int> wanted = order_of_loops(access, loops);
    if (format.is_dense() || distinct.size() != access.indices.size() || wanted == format.mode_order()) return access;
    for (const Conversion& known : out.conversions)
      if (known.from == access.tensor && known.to.format().mode_order() == wanted)
        return notation::Access{known.to, access.indices};
    std::string name = access.tensor.symbol().name();
    std::vector<LevelFormat> levels = format.levels();
    if (exact.contains(access.tensor) && has_places_for_more(levels)) levels.assign(levels.size(), listing_level());
    TensorVar copy({Symbol(name.empty() ? "" : name + "'"), access.tensor.type(), access.tensor.dims(),
                    filled_like(Format(levels, wanted), format)});
    std::vector<IndexVar> all = without_windows(access.indices);
    out.conversions.push_back(
        {access.tensor, copy, concretize({{copy, all}, AssignOp::Set, notation::Access{access.tensor, all}}).value()});
    return notation::Access{copy, access.indices};
  });
  return out;
}

std::string print(const std::vector<Conversion>& conversions, Printer& names) {
  return join(conversions, "\n", [&](const Conversion& c) {
    return fmt::format("{} stored as {}\n{}", names.name(c.to), c.to.format().str(), indent(names(c.statement), 2));
  });
}

}  // namespace spdistal
