#include "schedule/refuse.hpp"

#include <fmt/format.h>

namespace spdistal::schedule {

using namespace notation;

Refusal::Refusal(std::string_view command, const ConcreteStatement& statement)
    : command_(command), statement_(statement) {
  print_(statement);  // names are chosen in the order in which the statement shows them
}

std::vector<std::string> Refusal::loop_names() {
  std::vector<std::string> out;
  for (const IndexVar& var : loop_variables(statement_.body)) out.push_back(name(var));
  return out;
}

Diagnostic Refusal::at(const IndexVar& at, const std::string& message, std::string hint) {
  return {fmt::format("{}: {}", command_, message), {print_.excerpt(statement_, at)}, std::move(hint)};
}

Diagnostic Refusal::whole(const std::string& message, std::string hint) {
  std::string loops = print_(statement_);
  // A mark past the end draws no line.
  return {fmt::format("{}: {}", command_, message), {{loops, loops.size() + 1, loops.size() + 1}}, std::move(hint)};
}

std::string decision(const LoopTags& tags) {
  if (!tags.leaf.empty()) return "substituted by " + tags.leaf;
  if (tags.place == LoopPlace::Distributed) return "distributed";
  if (tags.parallel) return "parallelized";
  if (!tags.communicate.empty()) return "a place of communication";
  if (tags.unroll > 1) return "unrolled";
  return "";
}

std::string changing_range(Refusal& names, const ConcreteStatement& statement, const IndexVar& loop,
                           const IndexVar& with) {
  if (statement.provenance.positions_of(loop)) return fmt::format("walks positions below each {}", names.name(with));
  return fmt::format("goes through a block whose size {} tells", names.name(with));
}

Result<> check_outside_leaf(std::string_view command, const ConcreteStatement& statement, const IndexVar& loop) {
  Refusal refuse(command, statement);
  for (const Forall& around : loops_to(statement.body, loop))
    if (around.var != loop && !around.tags.leaf.empty())
      return refuse.at(loop,
                       fmt::format("the loop over {} is inside that over {}, which {} replaces", refuse.name(loop),
                                   refuse.name(around.var), around.tags.leaf),
                       "substitute last: a routine runs all its loops itself");
  return {};
}

Result<> check_untouched(std::string_view command, const ConcreteStatement& statement, const IndexVar& loop) {
  if (Result<> outside = check_outside_leaf(command, statement, loop); !outside) return outside;
  Refusal refuse(command, statement);
  std::string decided = decision(find_loop(statement.body, loop)->tags);
  if (decided.empty()) return {};
  return refuse.at(loop, fmt::format("the loop over {} is {} already", refuse.name(loop), decided),
                   fmt::format("{} first, then say how the new loops run", command));
}

}  // namespace spdistal::schedule
