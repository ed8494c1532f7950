// Elements of a result with a place for each, where not all of their coordinates are known yet: zeroed, or summed apart,
// all at once.
#include <algorithm>

#include "lower/result/elements.hpp"
#include "lower/result/strategy.hpp"
#include "lower/values.hpp"

namespace spdistal::lower {

using namespace notation;
using ir::Expr;
using ir::Var;

namespace {

// The result's variables that are not known here. None: a part of one is bound outside.
std::optional<std::vector<IndexVar>> open_variables(const Context& c, const Scope& s) {
  std::vector<IndexVar> open;
  for (const IndexVar& var : c.lhs.indices)
    if (!s.knows(var) && std::find(open.begin(), open.end(), var) == open.end()) open.push_back(var);
  // A part of a variable that is bound outside (its block) would zero too much. What loops around the kernel bind is a
  // part of, the piece has no more than.
  for (const IndexVar& var : open)
    for (const auto& [known, value] : s.values) {
      std::vector<IndexVar> roots = c.provenance.roots_of(known);
      if (std::find(roots.begin(), roots.end(), var) != roots.end() && !c.provenance.determined(known, c.options.outer))
        return std::nullopt;
    }
  return open;
}

void each_open_element(Context& c, const Scope& s, const std::vector<IndexVar>& open, const Inside& fill) {
  std::function<void(const Scope&, size_t)> nest = [&](const Scope& here, size_t next) {
    if (next == open.size()) return fill(here);
    size_t dim = size_t(std::find(c.lhs.indices.begin(), c.lhs.indices.end(), open[next]) - c.lhs.indices.begin());
    size_t level = c.lhs.tensor.format().level_of(dim);
    Expr first = c.first_coordinate(0, level);
    Expr end = c.is_whole(0, level) ? size(c, here, open[next]) : first + c.dense_size(0, level);
    c.f.loop(c.name(open[next]), first, end, [&](const Var& v) {
      Scope inside = here;
      inside.values.insert_or_assign(open[next], v);
      nest(inside, next + 1);
    });
  };
  nest(s, 0);
}

}  // namespace

Scope with_rest_zeroed(Context& c, const Scope& s) {
  std::optional<std::vector<IndexVar>> open = open_variables(c, s);
  if (c.kernel.assembly != Assembly::Dense || !open) return s;
  each_open_element(c, s, *open, [&](const Scope& here) {
    c.f.store(c.vals_array(0), strategy_of(c).position(c, here), ir::literal(c.background));
  });
  Scope out = s;
  out.elements.zeroed = true;
  return out;
}

void sum_apart(Context& c, const Scope& s, const Inside& fill) {
  std::optional<std::vector<IndexVar>> open = open_variables(c, s);
  if (!s.elements.raced || c.kernel.assembly != Assembly::Dense || !open) return fill(s);
  std::vector<Expr> sizes;
  Expr count = ir::int64(1);
  for (const IndexVar& var : *open) sizes.push_back(size(c, s, var)), count = count * sizes.back();
  Temporary sums{c.f.allocate("row", c.result_type(), count, ir::Fill::Uninitialised), sizes};
  each_open_element(c, s, *open, [&](const Scope& here) {
    c.f.store(sums.values, temporary_position(here, sums, *open), ir::literal(c.background));
  });
  Scope apart = s;
  apart.elements.apart = Elements::Apart{sums, *open};
  apart.elements.raced.reset();
  fill(apart);
  each_open_element(c, s, *open, [&](const Scope& here) {
    write_element(c, here, ir::load(sums.values, temporary_position(here, sums, *open)), c.operation);
  });
}

}  // namespace spdistal::lower
