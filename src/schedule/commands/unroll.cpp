#include "spdistal/schedule/unroll.hpp"

#include <fmt/format.h>

#include "notation/concrete.hpp"
#include "schedule/nest.hpp"
#include "schedule/refuse.hpp"

namespace spdistal {

using namespace notation;

Result<> Unroll::check(const ConcreteStatement& statement) const {
  schedule::Refusal refuse(name, statement);
  const LoopTags& tags = find_loop(statement.body, i)->tags;
  if (Result<> outside = schedule::check_outside_leaf(name, statement, i); !outside) return outside;
  if (factor < 1)
    return refuse.at(i, fmt::format("{} iterations cannot be written out", factor), "unroll by a factor of 2 or more");
  if (tags.unroll > 1)
    return refuse.at(i, fmt::format("the loop over {} is unrolled already", refuse.name(i)), "unroll each loop once");
  if (tags.place == LoopPlace::Distributed || !tags.leaf.empty() ||
      (tags.parallel && tags.parallel->unit != Unit::CPUVector))
    return refuse.at(i,
                     fmt::format("the loop over {} is {}: its iterations are not run one after the other",
                                 refuse.name(i), schedule::decision(tags)),
                     "split it and unroll the inner loop");
  return {};
}

ConcreteStatement Unroll::apply(const ConcreteStatement& statement) const {
  return schedule::tag_loop(statement, i, [&](LoopTags& tags) { tags.unroll = factor; });
}

}  // namespace spdistal
