#include "schedule/communication.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "schedule/refuse.hpp"

namespace spdistal::schedule {

using namespace notation;

Result<> check_place(std::string_view command, const ConcreteStatement& statement, const std::vector<Forall>& loops) {
  Refusal refuse(command, statement);
  const IndexVar& at = loops.back().var;
  for (const Forall& loop : loops)
    if (loop.tags.parallel || !loop.tags.leaf.empty())
      return refuse.at(at,
                       fmt::format("tensors cannot be fetched at {}: the loop over {} runs inside one piece, {}",
                                   refuse.name(at), refuse.name(loop.var), decision(loop.tags)),
                       "communicate at a distributed loop, or at a sequential one directly inside those");
  bool distributed =
      std::any_of(loops.begin(), loops.end(), [](const Forall& l) { return l.tags.place == LoopPlace::Distributed; });
  if (!distributed)
    return refuse.at(
        at, fmt::format("no loop around {} is distributed, so that there is nothing to fetch", refuse.name(at)),
        "distribute the loop first");
  return {};
}

}  // namespace spdistal::schedule
