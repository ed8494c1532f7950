// What runs where nobody said how: conversions, distribution, threads.
#include <fmt/format.h>

#include "driver/homes.hpp"
#include "driver/session.hpp"
#include "driver/state.hpp"
#include "notation/concretize.hpp"
#include "notation/races.hpp"
#include "schedule/apply.hpp"

namespace spdistal {

using namespace notation;

namespace {

// The loop to cut into pieces: the outermost over a dimension of the result, in the order it is stored; else the
// outermost of all, and pieces are added up.
struct Cut {
  IndexVar var;
  std::string reason;
};
std::optional<Cut> loop_to_cut(const ConcreteStatement& statement, const notation::Access& result, Printer& names) {
  std::vector<Forall> loops = outer_loops(statement.body);
  if (loops.empty()) return {};
  for (int dim : result.tensor.format().mode_order())
    for (const Forall& loop : loops)
      if (loop.var == result.indices[size_t(dim)])
        return Cut{loop.var, fmt::format("{} is the outermost dimension of {} that loops go over", names.name(loop.var),
                                         names.name(result.tensor))};
  return Cut{loops[0].var, fmt::format("{} has no dimension to cut: pieces of {} are added up",
                                       names.name(result.tensor), names.name(loops[0].var))};
}

// divide, bring to the outside, distribute.
Chosen over_pieces(Chosen chosen, int64_t pieces) {
  const ConcreteStatement& statement = chosen.statement;
  std::optional<notation::Access> result;
  each<Assign>(statement.body, [&](const Assign& a) {
    if (a.lhs.tensor == statement.result) result = a.lhs;
  });
  Printer names;
  names(statement);
  std::optional<Cut> cut = loop_to_cut(statement, *result, names);
  if (!cut) return chosen;
  std::string name = names.name(cut->var);
  IndexVar outer(name + "o"), inner(name + "i");
  std::vector<IndexVar> order{outer};
  for (const Forall& loop : outer_loops(statement.body)) order.push_back(loop.var == cut->var ? inner : loop.var);
  std::vector<Command> commands{Divide{cut->var, outer, inner, pieces}};
  if (!(outer_loops(statement.body)[0].var == cut->var)) commands.push_back(Reorder{order});
  commands.push_back(Distribute{{outer}});
  Result<ConcreteStatement> cut_up = schedule::apply(commands, statement);
  if (!cut_up) return chosen;
  chosen.statement = *cut_up;
  chosen.commands = std::move(commands);
  chosen.reason = cut->reason;
  return chosen;
}

// The outermost loop that is not distributed.
std::optional<IndexVar> first_local(const ConcreteStatement& statement) {
  for (const Forall& loop : outer_loops(statement.body))
    if (loop.tags.place == Place::Local) return loop.var;
  return {};
}

}  // namespace

ConcreteStatement over_threads(const ConcreteStatement& statement) {
  std::optional<IndexVar> outer = first_local(statement);
  if (!outer) return statement;
  Result<ConcreteStatement> parallel = schedule::apply(Parallelize{*outer, CPUThread, NoRaces}, statement);
  ConcreteStatement out = parallel ? *parallel : statement;
  // An innermost loop that sums over a dense range sums in vectors; over sparse ones the command has no effect.
  IndexVar inner = outer_loops(out.body).back().var;
  if (inner == *outer || !find_race(out, inner)) return out;
  Result<ConcreteStatement> vectors = schedule::apply(Parallelize{inner, CPUVector, Race::Auto}, out);
  return vectors ? *vectors : out;
}

int64_t pieces_of(const StatementState& statement) {
  int ranks = Session::instance().transport().size();
  for (const TensorVar& tensor : tensors(statement.assignment))
    if (const auto& distribution = tensor.format().distribution()) {
      bind_machine(distribution->machine(), ranks);
      int64_t pieces = 1;
      for (const Grid& grid : distribution->machine().levels())
        for (const Extent& extent : grid.extents()) pieces *= extent.value().value();
      return pieces;
    }
  return ranks;
}

Chosen choose(const StatementState& statement, int64_t pieces) {
  if (!statement.commands.empty()) return {statement.scheduled};
  Chosen chosen{statement.scheduled};
  Converted converted = insert_conversions(statement.assignment);
  if (!converted.conversions.empty())
    chosen = {concretize(converted.assignment).value(), std::move(converted.conversions)};
  if (pieces > 1) chosen = over_pieces(std::move(chosen), pieces);
  chosen.statement = over_threads(chosen.statement);
  return chosen;
}

}  // namespace spdistal
