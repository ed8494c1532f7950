#include "spdistal/schedule/parallelize.hpp"

#include <fmt/format.h>

#include "notation/concrete.hpp"
#include "notation/races.hpp"
#include "routine/match.hpp"
#include "schedule/nest.hpp"
#include "schedule/refuse.hpp"
#include "schedule/vectors.hpp"

namespace spdistal {

using namespace notation;

namespace {

bool is_gpu(Unit unit) { return unit >= Unit::GPUBlock; }

}  // namespace

Result<> Parallelize::check(const ConcreteStatement& statement) const {
  schedule::Refusal refuse(name, statement);
  if (Result<> outside = schedule::check_outside_leaf(name, statement, i); !outside) return outside;
  const Forall& loop = *find_loop(statement.body, i);
  std::string decided = schedule::decision(loop.tags);
  if (loop.tags.place == LoopPlace::Distributed || loop.tags.parallel || !loop.tags.leaf.empty() ||
      !loop.tags.communicate.empty())
    return refuse.at(i, fmt::format("the loop over {} is {} already", refuse.name(i), decided),
                     "divide it: one part can be distributed, the other parallelized");
  std::optional<IndexVar> fetches;
  each<Forall>(loop.body, [&](const Forall& inside) {
    if (!inside.tags.communicate.empty()) fetches = inside.var;
  });
  if (const Forall* replaced = routine::find_substituted(loop.body))
    return refuse.at(i, fmt::format("{} runs inside the loop over {}", replaced->tags.leaf, refuse.name(i)),
                     "a routine is called by one thread, and divides its work among threads itself");
  if (fetches)
    return refuse.at(
        *fetches,
        fmt::format("tensors are fetched at {}, inside the loop over {}", refuse.name(*fetches), refuse.name(i)),
        "a parallel loop runs inside one piece: communicate outside of it");

  // Units nest from coarse to fine, each once.
  std::optional<Diagnostic> clash;
  auto compare = [&](const Forall& other, bool outside) {
    if (!other.tags.parallel || clash) return;
    Unit theirs = other.tags.parallel->unit;
    if (theirs == unit)
      clash =
          refuse.at(other.var,
                    fmt::format("the loop over {} is parallelized over {} already", refuse.name(other.var), word(unit)),
                    "use each unit once in a nest");
    else if (is_gpu(theirs) != is_gpu(unit))
      clash = refuse.at(other.var,
                        fmt::format("the loop over {} runs on the {}, {} on the {}", refuse.name(other.var),
                                    is_gpu(theirs) ? "GPU" : "CPU", word(unit), is_gpu(unit) ? "GPU" : "CPU"),
                        "a leaf runs on one kind of processor");
    else if ((theirs > unit) == outside)
      clash = refuse.at(other.var,
                        fmt::format("{} cannot stand {} {}", word(unit), outside ? "inside" : "outside", word(theirs)),
                        is_gpu(unit) ? "from the outside in: GPUBlock, GPUWarp, GPUThread"
                                     : "from the outside in: CPUThread, CPUVector");
  };
  for (const Forall& around : loops_to(statement.body, i))
    if (around.var != i) compare(around, true);
  each<Forall>(loop.body, [&](const Forall& inside) { compare(inside, false); });
  if (clash) return *clash;
  if (unit == Unit::CPUVector)
    if (Result<> lanes = schedule::check_lanes(name, statement, i); !lanes) return lanes;

  if (race == Race::NoRaces)
    if (std::optional<Assign> shared = find_race(statement, i))
      return refuse.at(i,
                       fmt::format("iterations of {} would race: several of them write the same {}", refuse.name(i),
                                   refuse(shared->lhs)),
                       "leave out NoRaces and the sums are kept apart, or choose Private or Atomics");
  return {};
}

ConcreteStatement Parallelize::apply(const ConcreteStatement& statement) const {
  return schedule::tag_loop(statement, i, [&](LoopTags& tags) { tags.parallel = Parallel{unit, race}; });
}

}  // namespace spdistal
