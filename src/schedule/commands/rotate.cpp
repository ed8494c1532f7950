#include "spdistal/schedule/rotate.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "notation/concrete.hpp"
#include "schedule/refuse.hpp"

namespace spdistal {

using namespace notation;

Result<> Rotate::check(const ConcreteStatement& statement) const {
  schedule::Refusal refuse(name, statement);
  if (Result<> untouched = schedule::check_untouched(name, statement, i); !untouched) return untouched;
  std::vector<Forall> around = loops_to(statement.body, i);
  for (const IndexVar& offset : offsets) {
    if (offset == i) return refuse.at(i, "a loop cannot be rotated by itself", "rotate by loops outside");
    if (std::none_of(around.begin(), around.end(), [&](const Forall& l) { return l.var == offset; }))
      return refuse.at(offset,
                       fmt::format("the loop over {} is not around that over {}", refuse.name(offset), refuse.name(i)),
                       "rotate by loops outside");
  }
  return {};
}

ConcreteStatement Rotate::apply(const ConcreteStatement& statement) const {
  ConcreteStatement out = statement;
  out.body = replace_loop(statement.body, i, [&](const Forall& loop) { return Forall{rotated, loop.body}; });
  IndexExpr start = value_of(rotated);
  for (const IndexVar& offset : offsets) start = start + value_of(offset);
  out.provenance.relations.push_back(
      {.replaced = {{i, start % size_of(i), Guard::Unneeded}}, .made = {{rotated, size_of(i), "s"}}});
  return out;
}

}  // namespace spdistal
