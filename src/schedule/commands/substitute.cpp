#include "spdistal/schedule/substitute.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.hpp"
#include "notation/concrete.hpp"
#include "routine/match.hpp"
#include "routine/ranges.hpp"
#include "schedule/nest.hpp"
#include "schedule/refuse.hpp"

namespace spdistal {

using namespace notation;

namespace {

// Is a variable found by positions that a loop goes over?
bool found_by_positions(const Provenance& provenance, const IndexVar& var) {
  const Relation* relation = provenance.replaced_by(var);
  if (!relation) return false;
  bool found = false;
  each<StoredCoordinate>(relation->value_of(var), [&](const StoredCoordinate&) { found = true; });
  for (const IndexVar& part : relation->needs()) found |= found_by_positions(provenance, part);
  return found;
}

// The loops that a routine replaces run over all of a range of each variable: it knows no other way.
Result<> check_ranges(const ConcreteStatement& statement, const Forall& outermost, schedule::Refusal& refuse) {
  std::vector<IndexVar> around;
  for (const Forall& loop : loops_to(statement.body, outermost.var))
    if (loop.var != outermost.var) around.push_back(loop.var);
  std::vector<IndexVar> used;
  each<Assign>(outermost.body, [&](const Assign& assign) {
    for (const IndexVar& var : variables(Assignment{assign.lhs, assign.op, assign.rhs})) used.push_back(var);
  });
  for (const IndexVar& var : used) {
    const Relation* relation = statement.provenance.replaced_by(var);
    if (relation && relation->block())
      return refuse.at(
          outermost.var,
          fmt::format("{} is cut by weight, and a routine does not know where blocks begin then", refuse.name(var)),
          "divide without weights: blocks of one size are known");
    if (found_by_positions(statement.provenance, var))
      return refuse.at(outermost.var,
                       fmt::format("{} is found by positions, and a routine takes coordinates", refuse.name(var)),
                       "leave pos out: a routine knows best how to walk what is stored");
    if (!routine::is_range(statement.provenance, var, around))
      return refuse.at(
          outermost.var,
          fmt::format("for given values of the loops around, those inside do not take a range of {}", refuse.name(var)),
          "a routine takes blocks: divide or split, with the inner loops inside of the routine");
  }
  return {};
}

// Nothing else stands beside what a routine computes, and it is called by one thread.
Result<> check_around(const ConcreteStatement& statement, const Forall& outermost, schedule::Refusal& refuse) {
  std::vector<Forall> outer = outer_loops(statement.body);
  if (std::none_of(outer.begin(), outer.end(), [&](const Forall& loop) { return loop.var == outermost.var; }))
    return refuse.at(outermost.var, "there are other loops or assignments beside those that a routine is to replace",
                     "a routine is the whole leaf: leave precompute out, or make this a statement of its own");
  for (const Forall& loop : outer)
    if (loop.var == outermost.var) break;
    else if (loop.tags.parallel)
      return refuse.at(loop.var,
                       fmt::format("the loop over {}, around the routine, is parallelized", refuse.name(loop.var)),
                       "a routine divides its work among threads itself");
  return {};
}

}  // namespace

Result<> Substitute::check(const ConcreteStatement& statement) const {
  schedule::Refusal refuse(name, statement);
  if (routine::routines(leaf.text).empty())
    return refuse.whole(fmt::format("there is no routine '{}'", leaf.text),
                        suggest(leaf.text, routine::names(), "the routines are"));
  for (const IndexVar& var : loops)
    if (Result<> untouched = schedule::check_untouched(name, statement, var); !untouched) return untouched;
  // The loops named are a whole nest: from the outermost of them in, nothing else.
  std::vector<IndexVar> inside;
  const Forall* outermost = nullptr;
  for (const IndexVar& var : loops) {
    const Forall* loop = find_loop(statement.body, var);
    std::vector<IndexVar> below = loop_variables(Stmt(*loop));
    if (below.size() > inside.size()) inside = below, outermost = loop;
  }
  for (const IndexVar& var : loops)
    if (std::find(inside.begin(), inside.end(), var) == inside.end())
      return refuse.at(var,
                       fmt::format("the loop over {} is not in one nest with that over {}", refuse.name(var),
                                   refuse.name(outermost->var)),
                       "a routine replaces one nest of loops");
  for (const IndexVar& var : inside)
    if (std::find(loops.begin(), loops.end(), var) == loops.end())
      return refuse.at(
          var,
          fmt::format("the loop over {} is inside those that {} replaces, but not named", refuse.name(var), leaf.text),
          "a routine replaces a whole nest: name all its loops");
  if (Result<> alone = check_around(statement, *outermost, refuse); !alone) return alone;
  if (Result<> ranges = check_ranges(statement, *outermost, refuse); !ranges) return ranges;
  if (Result<routine::RoutineMatch> fits = routine::match(leaf.text, Stmt(*outermost)); !fits)
    return refuse.at(outermost->var, fits.refusal().message, fits.refusal().hint);
  return {};
}

ConcreteStatement Substitute::apply(const ConcreteStatement& statement) const {
  auto size = [&](const IndexVar& var) { return loop_variables(Stmt(*find_loop(statement.body, var))).size(); };
  const IndexVar& outermost = *std::max_element(
      loops.begin(), loops.end(), [&](const IndexVar& a, const IndexVar& b) { return size(a) < size(b); });
  return schedule::tag_loop(statement, outermost, [&](LoopTags& tags) { tags.leaf = leaf.text; });
}

}  // namespace spdistal
