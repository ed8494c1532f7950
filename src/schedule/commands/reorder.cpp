#include "spdistal/schedule/reorder.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "schedule/communication.hpp"
#include "schedule/refuse.hpp"
#include "schedule/vectors.hpp"

namespace spdistal {

using namespace notation;

namespace {

bool is_listed(const std::vector<IndexVar>& list, const IndexVar& var) {
  return std::find(list.begin(), list.end(), var) != list.end();
}

// The loops from the outermost that is named to the innermost.
std::vector<Forall> affected(const ConcreteStatement& statement, const std::vector<IndexVar>& order) {
  std::vector<Forall> longest;
  for (const IndexVar& var : order) {
    std::vector<Forall> path = loops_to(statement.body, var);
    if (path.size() > longest.size()) longest = path;
  }
  auto first = std::find_if(longest.begin(), longest.end(), [&](const Forall& l) { return is_listed(order, l.var); });
  return {first, longest.end()};
}

// Named loops in the new order, at the places where named loops were.
std::vector<Forall> rearranged(const std::vector<Forall>& loops, const std::vector<IndexVar>& order) {
  std::vector<Forall> out = loops;
  size_t next = 0;
  for (Forall& place : out)
    if (is_listed(order, place.var))
      place = *std::find_if(loops.begin(), loops.end(), [&](const Forall& l) { return l.var == order[next]; }), next++;
  return out;
}

// What was decided about loops must hold in the new order: a routine replaces the same nest, and units run from coarse
// to fine.
Result<> check_decisions(const ConcreteStatement& statement, const std::vector<Forall>& before,
                         const std::vector<Forall>& after) {
  schedule::Refusal refuse(Reorder::name, statement);
  if (Result<> outside = schedule::check_outside_leaf(Reorder::name, statement, before[0].var); !outside)
    return outside;
  bool inside_leaf = false;
  for (size_t k = 0; k < after.size(); k++) {
    inside_leaf |= !before[k].tags.leaf.empty();
    if (inside_leaf && before[k].var != after[k].var)
      return refuse.at(
          before[k].var,
          fmt::format("the loop over {} is one of a nest that a routine replaces", refuse.name(before[k].var)),
          "reorder first, then substitute");
    if (!after[k].tags.parallel) continue;
    Unit unit = after[k].tags.parallel->unit;
    for (size_t inner = k + 1; inner < after.size(); inner++)
      if (after[inner].tags.parallel && after[inner].tags.parallel->unit < unit)
        return refuse.at(after[k].var,
                         fmt::format("{} would stand outside {}", word(unit), word(after[inner].tags.parallel->unit)),
                         "reorder first, then parallelize");
  }
  return {};
}

}  // namespace

Result<> Reorder::check(const ConcreteStatement& statement) const {
  schedule::Refusal refuse(name, statement);
  std::vector<Forall> loops = affected(statement, order);
  for (const IndexVar& var : order)
    if (std::none_of(loops.begin(), loops.end(), [&](const Forall& l) { return l.var == var; }))
      return refuse.at(var,
                       fmt::format("the loop over {} is not in one nest with that over {}", refuse.name(var),
                                   refuse.name(loops.back().var)),
                       "only loops that are directly nested can change places");
  for (size_t k = 0; k + 1 < loops.size(); k++)
    if (!loops[k].body.is<Forall>())
      return refuse.at(
          loops[k + 1].var,
          fmt::format("a {} stands between the loops over {} and {}", loops[k].body.is<Where>() ? "where" : "sequence",
                      refuse.name(loops[k].var), refuse.name(loops[k + 1].var)),
          "only loops that are directly nested can change places");

  std::vector<Forall> after = rearranged(loops, order);
  if (Result<> units = check_decisions(statement, loops, after); !units) return units;
  std::vector<IndexVar> outside;
  for (const Forall& loop : loops_to(statement.body, loops[0].var)) outside.push_back(loop.var);
  outside.pop_back();
  bool local = false;
  std::vector<Forall> above;
  for (const Forall& loop : after) {
    for (const IndexVar& root : statement.provenance.range_depends_on(loop.var))
      if (!statement.provenance.determined(root, outside))
        return refuse.at(loop.var,
                         fmt::format("the loop over {} {} and cannot stand outside its loop", refuse.name(loop.var),
                                     schedule::changing_range(refuse, statement, loop.var, root)),
                         statement.provenance.positions_of(loop.var)
                             ? "fuse the loops and walk the positions of the fused one"
                             : "divide without weights: blocks of one size may stand anywhere");
    if (loop.tags.place == LoopPlace::Distributed && local)
      return refuse.at(
          loop.var, fmt::format("the distributed loop over {} would not be among the outermost", refuse.name(loop.var)),
          "reorder first, then distribute");
    local |= loop.tags.place == LoopPlace::Local;
    above.push_back(loop);
    if (!loop.tags.communicate.empty())
      if (Result<> place = schedule::check_place(name, statement, above); !place) return place;
    outside.push_back(loop.var);
  }
  for (const Forall& loop : after)
    if (loop.tags.parallel && loop.tags.parallel->unit == Unit::CPUVector)
      if (Result<> lanes = schedule::check_lanes(name, apply(statement), loop.var); !lanes) return lanes;
  return {};
}

ConcreteStatement Reorder::apply(const ConcreteStatement& statement) const {
  std::vector<Forall> loops = affected(statement, order), after = rearranged(loops, order);
  Stmt body = loops.back().body;
  for (auto loop = after.rbegin(); loop != after.rend(); ++loop) body = Forall{loop->var, body, loop->tags};
  ConcreteStatement out = statement;
  // From the root down: the loop that is replaced holds loops of the same variables.
  std::function<Stmt(const Stmt&)> put = [&](const Stmt& stmt) -> Stmt {
    const Forall* loop = stmt.as<Forall>();
    if (loop && loop->var == loops[0].var) return body;
    return map_children(stmt, [&](const auto& child) {
      if constexpr (std::same_as<std::remove_cvref_t<decltype(child)>, Stmt>) return put(child);
      else return child;
    });
  };
  out.body = put(statement.body);
  return out;
}

}  // namespace spdistal
