#include "spdistal/schedule/bound.hpp"

#include <fmt/format.h>

#include "notation/concrete.hpp"
#include "schedule/refuse.hpp"

namespace spdistal {

using namespace notation;

Result<> Bound::check(const ConcreteStatement& statement) const {
  schedule::Refusal refuse(name, statement);
  if (Result<> untouched = schedule::check_untouched(name, statement, i); !untouched) return untouched;
  const Root* root = statement.provenance.root(i);
  if (!root)
    return refuse.at(i, fmt::format("{} was made by the schedule, which knows its size", refuse.name(i)),
                     "bound a variable of the statement, before it is divided");
  if (size < 0) return refuse.at(i, fmt::format("{} cannot have {} values", refuse.name(i), size));
  std::optional<int64_t> known = root->size.value();
  if (known && kind == BoundKind::MaxExact && *known != size)
    return refuse.at(
        i, fmt::format("{} has {} values, not {}", refuse.name(i), *known, size),
        *known < size ? "MaxConstraint says that there are at most so many" : fmt::format("write {}", *known));
  if (known && kind == BoundKind::MaxConstraint && *known > size)
    return refuse.at(i, fmt::format("{} has {} values, more than {}", refuse.name(i), *known, size),
                     fmt::format("write {} or more", *known));
  return {};
}

ConcreteStatement Bound::apply(const ConcreteStatement& statement) const {
  bool exact = kind == BoundKind::MaxExact;
  ConcreteStatement out = statement;
  out.body = replace_loop(statement.body, i, [&](const Forall& loop) { return Forall{bounded, loop.body}; });
  out.provenance.relations.push_back({.replaced = {{i, value_of(bounded), exact ? Guard::Unneeded : Guard::Checked}},
                                      .made = {{bounded, number(size), "b"}}});
  out.provenance.requirements.push_back({i, exact ? Requirement::Kind::Equal : Requirement::Kind::AtMost, size});
  return out;
}

}  // namespace spdistal
