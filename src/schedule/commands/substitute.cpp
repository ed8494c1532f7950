#include "spdistal/schedule/substitute.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.hpp"
#include "notation/concrete.hpp"
#include "schedule/nest.hpp"
#include "schedule/refuse.hpp"

namespace spdistal {

using namespace notation;

namespace {

const std::vector<std::string> known_leaves = {"cusparse"};

}  // namespace

Result<> Substitute::check(const ConcreteStatement& statement) const {
  schedule::Refusal refuse(name, statement);
  if (std::find(known_leaves.begin(), known_leaves.end(), leaf.text) == known_leaves.end())
    return refuse.whole(fmt::format("there is no routine '{}'", leaf.text),
                        suggest(leaf.text, known_leaves, "the routines are"));
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
  return {};
}

ConcreteStatement Substitute::apply(const ConcreteStatement& statement) const {
  auto size = [&](const IndexVar& var) { return loop_variables(Stmt(*find_loop(statement.body, var))).size(); };
  const IndexVar& outermost = *std::max_element(
      loops.begin(), loops.end(), [&](const IndexVar& a, const IndexVar& b) { return size(a) < size(b); });
  return schedule::tag_loop(statement, outermost, [&](LoopTags& tags) { tags.leaf = leaf.text; });
}

}  // namespace spdistal
