#include "spdistal/schedule/divide.hpp"

#include "schedule/refuse.hpp"

namespace spdistal {

using namespace notation;

Result<> Divide::check(const ConcreteStatement& statement) const {
  schedule::Refusal refuse(name, statement);
  if (pieces.value() == 0) return refuse.at(i, "a loop cannot be divided into 0 pieces", "1 piece leaves it whole");
  return schedule::check_untouched(name, statement, i);
}

ConcreteStatement Divide::apply(const ConcreteStatement& statement) const {
  ConcreteStatement out = statement;
  out.body = replace_loop(statement.body, i, [&](const Forall& loop) {
    return Forall{outer, Forall{inner, loop.body}};
  });
  IndexExpr block = ceil_div(size_of(i), number(pieces));
  out.provenance.relations.push_back(
      {.replaced = {{i, value_of(outer) * size_of(inner) + value_of(inner), Guard::Checked}},
       .made = {{outer, number(pieces), "o"}, {inner, block, "i"}}});
  return out;
}

}  // namespace spdistal
