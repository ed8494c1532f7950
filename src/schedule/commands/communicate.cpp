#include "spdistal/schedule/communicate.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.hpp"
#include "notation/concrete.hpp"
#include "schedule/communication.hpp"
#include "schedule/nest.hpp"
#include "schedule/refuse.hpp"

namespace spdistal {

using namespace notation;

Result<> Communicate::check(const ConcreteStatement& statement) const {
  schedule::Refusal refuse(name, statement);
  std::vector<TensorVar> known = declared_tensors(statement);
  std::vector<std::string> names;
  for (const TensorVar& tensor : known) names.push_back(refuse.name(tensor));
  if (tensors.empty()) return refuse.at(at, "no tensor was given", fmt::format("name some of {}", enumerate(names)));
  for (size_t k = 0; k < tensors.size(); k++) {
    const TensorVar& tensor = tensors[k].var();
    std::string which = refuse.name(tensor);
    if (std::find(known.begin(), known.end(), tensor) == known.end())
      return refuse.at(at, fmt::format("{} is not in the statement", which), suggest(which, names, "its tensors are"));
    for (size_t other = 0; other < k; other++)
      if (tensors[other].var() == tensor)
        return refuse.at(at, fmt::format("{} is named twice", which), "name each tensor once");
    std::optional<IndexVar> elsewhere;
    each<Forall>(statement.body, [&](const Forall& loop) {
      if (std::find(loop.tags.communicate.begin(), loop.tags.communicate.end(), tensor) != loop.tags.communicate.end())
        elsewhere = loop.var;
    });
    if (elsewhere)
      return refuse.at(*elsewhere, fmt::format("{} is communicated at {} already", which, refuse.name(*elsewhere)),
                       "fetch each tensor at one loop");
  }
  std::vector<Forall> path = loops_to(statement.body, at), outer = outer_loops(statement.body);
  bool inside = std::none_of(outer.begin(), outer.end(), [&](const Forall& l) { return l.var == at; });
  if (inside)
    return refuse.at(at, fmt::format("the loop over {} is inside a where", refuse.name(at)),
                     "communicate at a loop outside of it");
  return schedule::check_place(name, statement, path);
}

ConcreteStatement Communicate::apply(const ConcreteStatement& statement) const {
  return schedule::tag_loop(statement, at, [&](LoopTags& tags) {
    for (const TensorRef& tensor : tensors) tags.communicate.push_back(tensor.var());
  });
}

}  // namespace spdistal
