#include "spdistal/schedule/split.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "schedule/refuse.hpp"

namespace spdistal {

using namespace notation;

Result<> Split::check(const ConcreteStatement& statement) const {
  schedule::Refusal refuse(name, statement);
  if (size <= 0)
    return refuse.at(i, fmt::format("blocks cannot have {} iterations", size),
                     "blocks of a size are made by split, a number of blocks by divide");
  return schedule::check_untouched(name, statement, i);
}

ConcreteStatement Split::apply(const ConcreteStatement& statement) const {
  ConcreteStatement out = statement;
  out.body = replace_loop(statement.body, i, [&](const Forall& loop) {
    return Forall{outer, Forall{inner, loop.body}};
  });
  // As large as a block has to be to hold all of any loop: sums of it with sizes stay below 2^63.
  constexpr int64_t largest = int64_t(1) << 62;
  IndexExpr block = number(std::min(size, largest));
  out.provenance.relations.push_back({.replaced = {{i, value_of(outer) * block + value_of(inner), Guard::Checked}},
                                      .made = {{outer, ceil_div(size_of(i), block), "o"}, {inner, block, "i"}}});
  return out;
}

}  // namespace spdistal
