#include "spdistal/schedule/distribute.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "notation/concrete.hpp"
#include "schedule/nest.hpp"
#include "schedule/refuse.hpp"

namespace spdistal {

using namespace notation;

Result<> Distribute::check(const ConcreteStatement& statement) const {
  schedule::Refusal refuse(name, statement);
  auto listed = [&](const IndexVar& var) { return std::find(loops.begin(), loops.end(), var) != loops.end(); };
  std::vector<Forall> outer = outer_loops(statement.body);
  for (const IndexVar& var : loops) {
    const LoopTags& tags = find_loop(statement.body, var)->tags;
    if (std::string decided = schedule::decision(tags); !decided.empty())
      return refuse.at(var, fmt::format("the loop over {} is {} already", refuse.name(var), decided),
                       tags.parallel ? "divide it: the outer part can be distributed, the inner parallelized"
                       : tags.place == LoopPlace::Distributed ? "distribute each loop once"
                                                              : "distribute first, then say how the loop runs");
    if (std::none_of(outer.begin(), outer.end(), [&](const Forall& l) { return l.var == var; }))
      return refuse.at(var, fmt::format("the loop over {} is inside a where", refuse.name(var)),
                       "only the outermost loops run on different pieces");
    for (const Forall& around : loops_to(statement.body, var))
      if (around.tags.place == LoopPlace::Local && !listed(around.var))
        return refuse.at(
            var,
            fmt::format("the loop over {} is inside the loop over {}, which is not distributed", refuse.name(var),
                        refuse.name(around.var)),
            fmt::format("only the outermost loops run on different pieces: reorder {} outwards", refuse.name(var)));
  }
  return {};
}

ConcreteStatement Distribute::apply(const ConcreteStatement& statement) const {
  ConcreteStatement out = statement;
  for (const IndexVar& var : loops)
    out = schedule::tag_loop(std::move(out), var, [](LoopTags& tags) { tags.place = LoopPlace::Distributed; });
  return out;
}

}  // namespace spdistal
