#include "lower/bind.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "lower/access.hpp"
#include "lower/divide/blocks.hpp"
#include "lower/iterate/positions.hpp"
#include "lower/questions.hpp"
#include "lower/result/strategy.hpp"
#include "lower/values.hpp"

namespace spdistal::lower {

using namespace notation;
using ir::Expr;

namespace {

// The coordinates at a position that is known otherwise than by walking there. Where nothing is stored, nothing is done.
void at_position(Context& c, const Scope& s, const Relation& relation, const StoredCoordinate& stored,
                 const Inside& fill) {
  int tensor = c.find_operand(stored.levels.access) + 1;
  Expr p = c.f.constant("p" + c.tensor_name(tensor), index(c, s, stored.position));
  where_in_piece(c, s, stored.levels, p, [&] {
    Reached reached =
        enter_position(c, s, relation.made[0].var, stored.levels, p, [&](size_t level, const Expr& position) -> Expr {
          return c.f.constant(fmt::format("p{}{}", c.tensor_name(tensor), level),
                              search_parent(c, tensor, level, position));
        });
    Scope here = s;
    here.access(tensor - 1) = reached.state;
    for (const auto& [var, value] : reached.found) here.values.insert_or_assign(var, value);
    // Not all values are found from positions.
    here.elements.covered = false;
    where_stored(c, stored.levels, reached.state, [&] { fill(here); });
  });
}

// Does anything that is not known yet depend on a variable? What only lies on the way from fused positions to coordinates that were
// read at the position does not: a constant for it would read all of these coordinates, for nothing.
bool leads_on(const Context& c, const Scope& s, const IndexVar& var) {
  bool indexes = c.provenance.root(var) != nullptr;
  auto look = [&](const Access& access) { indexes |= std::ranges::find(access.indices, var) != access.indices.end(); };
  each<Assign>(c.statement.body, [&](const Assign& assign) {
    look(assign.lhs);
    each<Access>(assign.rhs, look);
  });
  auto waits = [&](const Replaced& r) { return !s.knows(r.var) && leads_on(c, s, r.var); };
  return indexes || std::ranges::any_of(c.provenance.relations, [&](const Relation& relation) {
           std::vector<IndexVar> needs = relation.needs();
           return std::ranges::find(needs, var) != needs.end() && std::ranges::any_of(relation.replaced, waits);
         });
}

// Finds variables that follow from those known; where one may lie beyond its size, the rest is guarded.
void derive(Context& c, Scope s, const Inside& fill) {
  const std::vector<Relation>& relations = c.provenance.relations;
  for (auto relation = relations.rbegin(); relation != relations.rend(); ++relation) {
    std::vector<IndexVar> needs = relation->needs();
    auto known = [&](const IndexVar& v) { return s.knows(v); };
    auto done = [&](const Replaced& r) { return known(r.var); };
    if (std::all_of(relation->replaced.begin(), relation->replaced.end(), done)) continue;
    if (const BlockStart* block = relation->block(); block && !s.blocks.contains(block->blocks.var))
      if (std::optional<Segment> found = find_block(c, s, *block)) s.blocks.emplace(block->blocks.var, *found);
    if (!std::all_of(needs.begin(), needs.end(), known)) continue;
    if (auto* stored = relation->replaced[0].value.as<StoredCoordinate>()) {
      // The variables of the levels are what is asked for; the fused one is never read.
      if (known(stored->levels.var(stored->levels.last))) continue;
      return at_position(c, s, *relation, *stored, [&](const Scope& here) { derive(c, here, fill); });
    }
    std::optional<Expr> inside;
    for (const Replaced& r : relation->replaced) {
      if (known(r.var)) continue;
      Expr value = index(c, s, r.value);
      if (r.guard == Guard::Checked || leads_on(c, s, r.var)) value = c.f.constant(c.name(r.var), value);
      s.values.insert_or_assign(r.var, value);
      c.sweep({r.var});
      if (r.guard != Guard::Checked) continue;
      Expr check = value < size(c, s, r.var);
      inside = inside ? *inside && check : check;
    }
    if (inside) return c.f.when(*inside, [&] { derive(c, s, fill); });
  }
  fill(s);
}

// Levels of the result that new coordinates belong to are closed when what is inside is done.
void open_levels(Context& c, const Scope& s, const std::vector<IndexVar>& vars, size_t next, const Inside& fill) {
  if (next == vars.size()) return fill(s);
  strategy_of(c).within(c, s, vars[next], [&](const Scope& inside) { open_levels(c, inside, vars, next + 1, fill); });
}

}  // namespace

void bind_values(Context& c, const Scope& s, const Stmt& stmt, const FoundValues& found, const Inside& fill) {
  Scope with = s;
  for (const auto& [var, value] : found) with.values.insert_or_assign(var, value);
  derive(c, std::move(with), [&](const Scope& derived) {
    Scope inside = settled(c, derived);
    std::vector<IndexVar> fresh;
    if (strategy_of(c).within && holds_result(c, stmt))
      for (const IndexVar& var : storage_order(c.lhs))
        if (inside.knows(var) && !s.knows(var)) fresh.push_back(var);
    open_levels(c, inside, fresh, 0, fill);
  });
}

void inside_outer_loops(Context& c, const Scope& s, const Inside& fill) {
  for (const Root& root : c.provenance.roots)
    if (c.provenance.determined(root.var, c.options.outer)) c.sweep({root.var});
  const Stmt& stmt = c.statement.body;
  // One after the other, as their loops would: accesses go down before positions below them are counted.
  std::function<void(const Scope&, size_t)> nest = [&](const Scope& here, size_t next) {
    if (next == c.options.outer.size()) return fill(here);
    const IndexVar& var = c.options.outer[next];
    Expr value = c.number(c.name(var), OuterValue{var});
    auto inside = [&] {
      bind_values(c, here, stmt, {{var, value}}, [&](const Scope& bound) { nest(bound, next + 1); });
    };
    // Who calls the kernel knows only how many values there are at most.
    if (size_varies(c, var)) c.f.when(value < size(c, here, var), inside);
    else inside();
  };
  // Coordinates that are given are known before any loop.
  bind_values(c, s, stmt, {}, [&](const Scope& given) { nest(given, 0); });
}

Scope outermost(const Context& c) {
  Scope s;
  s.accesses.resize(c.kernel.operands.size());
  return s;
}

}  // namespace spdistal::lower
