#include "spdistal/schedule/fuse.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "schedule/refuse.hpp"

namespace spdistal {

using namespace notation;

Result<> Fuse::check(const ConcreteStatement& statement) const {
  schedule::Refusal refuse(name, statement);
  if (outer == inner)
    return refuse.at(outer, "a loop cannot be fused with itself", "fuse it with the loop directly inside");
  for (const IndexVar& var : {outer, inner})
    if (Result<> untouched = schedule::check_untouched(name, statement, var); !untouched) return untouched;
  const Forall* direct = find_loop(statement.body, outer)->body.as<Forall>();
  std::vector<IndexVar> below = loop_variables(find_loop(statement.body, outer)->body);
  std::vector<Forall> nest = outer_loops(Stmt(*find_loop(statement.body, outer)));
  if (std::find(below.begin(), below.end(), inner) != below.end() &&
      std::none_of(nest.begin(), nest.end(), [&](const Forall& l) { return l.var == inner; }))
    return refuse.at(
        inner, fmt::format("a where stands between the loops over {} and {}", refuse.name(outer), refuse.name(inner)),
        "only loops that are directly nested can be fused");
  if (!direct || direct->var != inner)
    return refuse.at(
        inner,
        fmt::format("the loop over {} is not directly inside the loop over {}", refuse.name(inner), refuse.name(outer)),
        fmt::format("reorder the loops first, so that {} stands directly outside {}", refuse.name(outer),
                    refuse.name(inner)));
  for (const IndexVar& root : statement.provenance.range_depends_on(inner))
    if (statement.provenance.depends(root, outer))
      return refuse.at(inner,
                       fmt::format("the range of {} changes with {}, so that the two are no rectangle",
                                   refuse.name(inner), refuse.name(root)),
                       statement.provenance.positions_of(inner)
                           ? "fuse the loops first, then take the positions of the fused one with pos"
                           : "divide without weights: blocks of one size can be fused");
  return {};
}

ConcreteStatement Fuse::apply(const ConcreteStatement& statement) const {
  ConcreteStatement out = statement;
  out.body = replace_loop(statement.body, outer, [&](const Forall& loop) {
    return Forall{fused, loop.body.as<Forall>()->body};
  });
  out.provenance.relations.push_back({.replaced = {{outer, value_of(fused) / size_of(inner), Guard::Unneeded},
                                                   {inner, value_of(fused) % size_of(inner), Guard::Unneeded}},
                                      .made = {{fused, size_of(outer) * size_of(inner), "f"}}});
  return out;
}

}  // namespace spdistal
