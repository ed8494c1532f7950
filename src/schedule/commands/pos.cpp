#include "spdistal/schedule/pos.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.hpp"
#include "format/questions.hpp"
#include "notation/concrete.hpp"
#include "routine/match.hpp"
#include "schedule/refuse.hpp"
#include "schedule/zero.hpp"

namespace spdistal {

using namespace notation;

namespace {

// What a loop ranges over: all combinations of values of these variables, outermost first. Of the first it may be a block
// that loops outside cut. No variables where it is something else.
struct Ranged {
  std::vector<IndexVar> vars;
  std::optional<CoordinateBlock> block = {};
};

// A part of a variable of the statement: i = io * 4 + ii for ii.
Ranged block_of(const Provenance& provenance, const IndexVar& part, const std::vector<IndexVar>& outside) {
  IndexVar top = part;
  std::optional<IndexExpr> first;
  IndexExpr end = size_of(part);
  while (const Relation* relation = provenance.made_by(top)) {
    const Replaced& up = relation->replaced[0];
    std::optional<Offset> offset = offset_of(up.value, top);
    std::vector<IndexVar> needs = relation->needs();
    bool known = std::all_of(needs.begin(), needs.end(),
                             [&](const IndexVar& v) { return v == top || provenance.determined(v, outside); });
    if (relation->replaced.size() != 1 || !offset || !known || provenance.positions_of(top)) return {};
    if (offset->added) {
      first = first ? *offset->added + *first : *offset->added;
      end = end + *offset->added;  // not i = start + ii: the end of a block is no value in it
    }
    if (up.guard == Guard::Checked) end = min(end, size_of(up.var));
    top = up.var;
  }
  return {{top}, CoordinateBlock{part, first.value_or(number(0)), end}};
}

Ranged ranged_over(const Provenance& provenance, const IndexVar& var, const std::vector<IndexVar>& outside) {
  const Relation* relation = provenance.made_by(var);
  if (!relation) return {{var}};
  bool whole = relation->made.size() == 1 && relation->needs() == std::vector{var} && !provenance.positions_of(var) &&
               std::all_of(relation->replaced.begin(), relation->replaced.end(),
                           [](const Replaced& r) { return r.guard == Guard::Unneeded; });
  if (!whole) return block_of(provenance, var, outside);
  Ranged out;
  for (const Replaced& parent : relation->replaced) {
    Ranged below = ranged_over(provenance, parent.var, outside);
    if (below.vars.empty() || (below.block && !out.vars.empty())) return {};
    if (below.block) out.block = below.block;
    out.vars.insert(out.vars.end(), below.vars.begin(), below.vars.end());
  }
  return out;
}

// The loops around one.
std::vector<IndexVar> loops_around(const ConcreteStatement& statement, const IndexVar& loop) {
  std::vector<IndexVar> out;
  for (const Forall& around : loops_to(statement.body, loop))
    if (around.var != loop) out.push_back(around.var);
  return out;
}

std::vector<IndexVar> level_variables(const notation::Access& access) {
  std::vector<IndexVar> out;
  for (int dim : access.tensor.format().mode_order()) out.push_back(access.indices[size_t(dim)]);
  return out;
}

// The levels of the access that store these variables one after the other.
std::optional<Levels> find_levels(const notation::Access& access, const Ranged& ranged) {
  const std::vector<IndexVar>& vars = ranged.vars;
  std::vector<IndexVar> stored = level_variables(access);
  auto at = std::search(stored.begin(), stored.end(), vars.begin(), vars.end());
  if (vars.empty() || at == stored.end()) return std::nullopt;
  size_t first = size_t(at - stored.begin());
  return Levels{access, first, first + vars.size() - 1, ranged.block};
}

// Positions of a block of rows are one after the other, and others than its coordinates.
Result<> check_block(schedule::Refusal& refuse, const IndexVar& i, const Levels& levels) {
  const Format& format = levels.access.tensor.format();
  std::string which = refuse(levels.access), part = refuse.name(levels.block->part),
              rows = refuse.name(levels.var(levels.first));
  if (levels.first > 0)
    return refuse.at(i,
                     fmt::format("{} is a part of {}, and {} stores {} above it", part, rows,
                                 refuse.name(levels.access.tensor), refuse.name(levels.var(0))),
                     "take positions of parts of what the tensor stores first, or divide the positions themselves");
  if (!is_ordered(format.levels()[0]))
    return refuse.at(
        i,
        fmt::format("{} stores {} in no order, so that those of {} do not lie together",
                    refuse.name(levels.access.tensor), rows, part),
        fmt::format("give its first level an order, as {} or {} have", levels::Dense::name, levels::Compressed::name));
  if (std::all_of(format.levels().begin(), format.levels().begin() + long(levels.last) + 1, counts_places))
    return refuse.at(i,
                     fmt::format("{} has a place for every value of {}, so that its positions are just these", which,
                                 refuse.name(i)),
                     fmt::format("leave pos out, and divide {} itself", refuse.name(i)));
  return {};
}

}  // namespace

Result<> Pos::check(const ConcreteStatement& statement) const {
  schedule::Refusal refuse(name, statement);
  if (Result<> untouched = schedule::check_untouched(name, statement, i); !untouched) return untouched;

  if (routine::find_substituted(statement.body))
    return refuse.at(i, "a routine computes the loops inside, and takes coordinates, not positions",
                     "leave pos out, or substitute");

  const auto* wanted = access.tree().as<notation::Access>();
  if (!wanted)
    return refuse.at(i, fmt::format("{} is no tensor, and has no positions", refuse(access.tree())),
                     "name one tensor, such as B(i,j)");
  if (wanted->tensor.origin() == Origin::Temporary)
    return refuse.at(
        i, fmt::format("{} is a workspace, which has no stored coordinates to walk", refuse.name(wanted->tensor)),
        "take positions of a tensor of the statement");
  const Forall& loop = *find_loop(statement.body, i);
  std::optional<notation::Access> stated;
  std::vector<std::string> accesses;
  each<Assign>(loop.body, [&](const Assign& assign) {
    each<notation::Access>(assign.rhs, [&](const notation::Access& a) {
      if (structurally_equal(a, *wanted)) stated = a;
      std::string text = refuse(a);
      if (std::find(accesses.begin(), accesses.end(), text) == accesses.end()) accesses.push_back(text);
    });
  });
  std::string which = refuse(*wanted);
  if (!stated)
    return refuse.at(i, fmt::format("{} is not read in the loop over {}", which, refuse.name(i)),
                     suggest(which, accesses, "it reads"));

  std::vector<IndexVar> outside = loops_around(statement, i);
  Ranged ranged = ranged_over(statement.provenance, i, outside);
  const std::vector<IndexVar>& vars = ranged.vars;
  if (vars.empty())
    return refuse.at(i, fmt::format("{} is only a part of its variable", refuse.name(i)),
                     "take positions first, then divide or split them");
  std::optional<Levels> levels = find_levels(*wanted, ranged);
  auto names = [&](const std::vector<IndexVar>& list) {
    return join(list, ",", [&](const IndexVar& v) { return refuse.name(v); });
  };
  std::vector<IndexVar> stored = level_variables(*wanted);
  for (const IndexVar& var : vars)
    if (std::count(stored.begin(), stored.end(), var) > 1)
      return refuse.at(i, fmt::format("{} indexes two dimensions of {}", refuse.name(var), which),
                       "copy the diagonal into a vector first");
  std::vector<std::string> strangers;
  for (const IndexVar& var : vars)
    if (std::find(stored.begin(), stored.end(), var) == stored.end()) strangers.push_back(refuse.name(var));
  if (!strangers.empty())
    return refuse.at(i, fmt::format("{} has no dimension for {}", which, enumerate(strangers)),
                     "walk the positions of a tensor that the loop's variables index");
  if (!levels)
    return refuse.at(i,
                     fmt::format("{} stores {} in this order, which {} does not follow", refuse.name(wanted->tensor),
                                 names(stored), vars.size() == 1 ? refuse.name(i) : "(" + names(vars) + ")"),
                     "fuse loops in the order in which the tensor stores their dimensions");

  // Positions of a level have all of its coordinates.
  for (size_t level = levels->first; level <= levels->last; level++)
    if (stated->indices[size_t(wanted->tensor.format().mode_order()[level])].window())
      return refuse.at(i,
                       fmt::format("{} may have more coordinates than {} has values, beside a window", which,
                                   refuse.name(levels->var(level))),
                       "walk the positions of another tensor, or copy the part that is read first");

  for (size_t level = 0; level < levels->first; level++)
    if (!statement.provenance.determined(levels->var(level), outside)) {
      std::vector<IndexVar> all(stored.begin(), stored.begin() + long(levels->last) + 1);
      return refuse.at(i,
                       fmt::format("the positions of {} in {} are counted below each {}, whose loop is not outside",
                                   refuse.name(vars[0]), which, refuse.name(levels->var(level))),
                       fmt::format("fuse the loops over {} to walk them all", enumerate([&] {
                                     std::vector<std::string> out;
                                     for (const IndexVar& v : all) out.push_back(refuse.name(v));
                                     return out;
                                   }())));
    }

  if (levels->block)
    if (Result<> block = check_block(refuse, i, *levels); !block) return block;

  if (continues_tuples(wanted->tensor.format(), levels->last + 1))
    return refuse.at(i,
                     fmt::format("{} stores {} once for every entry below it, so that its positions repeat coordinates",
                                 refuse.name(wanted->tensor), refuse.name(levels->var(levels->last))),
                     fmt::format("fuse it with the loop over {} first", refuse.name(levels->var(levels->last + 1))));

  if (std::optional<Expr> rest = schedule::survivor(loop.body, *wanted))
    return refuse.at(i, fmt::format("{} need not be zero where {} stores nothing", refuse(*rest), which),
                     "walk positions only of a tensor that is a factor of everything in the loop");
  return {};
}

ConcreteStatement Pos::apply(const ConcreteStatement& statement) const {
  ConcreteStatement out = statement;
  Levels levels = *find_levels(*access.tree().as<notation::Access>(),
                               ranged_over(statement.provenance, i, loops_around(statement, i)));
  out.body = replace_loop(statement.body, i, [&](const Forall& loop) { return Forall{position, loop.body}; });
  std::vector<Relation>& relations = out.provenance.relations;
  if (!levels.block) {
    relations.push_back({.replaced = {{i, StoredCoordinate{levels, value_of(position)}, Guard::Unneeded}},
                         .made = {{position, StoredCount{levels}, "p"}}});
    return out;
  }
  // Positions are counted through the whole tensor, so that those of all blocks are of one kind.
  IndexVar q;
  Levels all{levels.access, levels.first, levels.last};
  relations.push_back({.replaced = {{i, StoredCoordinate{levels, value_of(q)}, Guard::Unneeded}},
                       .made = {{q, StoredCount{all}, "q"}}});
  relations.push_back({.replaced = {{q, StoredBefore{levels} + value_of(position), Guard::Unneeded}},
                       .made = {{position, StoredCount{levels}, "p"}}});
  return out;
}

}  // namespace spdistal
