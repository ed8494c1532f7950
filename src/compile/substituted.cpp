#include "compile/substituted.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/require.hpp"
#include "runtime/transport/agree.hpp"
#include "schedule/refuse.hpp"

namespace spdistal {

using namespace notation;
using routine::RoutineMatch;

namespace {

std::string named(const routine::Routine& routine, const routine::FoundRoutine& found) {
  return found.origin.empty() ? routine.name() : fmt::format("{} ({})", routine.name(), found.origin);
}

// A sparse piece is taken as it is: nobody cuts a part out of it.
void check_cuts(const Compiled& compiled, const RoutineMatch& match, const std::vector<Forall>& around,
                schedule::Refusal& refuse) {
  const ConcreteStatement& loops = compiled.loops();
  bool distributed =
      std::any_of(around.begin(), around.end(), [](const Forall& l) { return l.tags.place == LoopPlace::Distributed; });
  for (const plan::AccessPlan& planned : compiled.plan().accesses) {
    const notation::Access& access = planned.access;
    if (access.tensor.format().is_dense()) continue;
    for (const Forall& loop : around) {
      bool cuts = std::any_of(access.indices.begin(), access.indices.end(),
                              [&](const IndexVar& var) { return loops.provenance.bounded_by(var, loop.var); });
      bool fetched = std::find(planned.loops.begin(), planned.loops.end(), loop.var) != planned.loops.end();
      if (!cuts || (fetched && distributed)) continue;
      std::string tensor = refuse.name(access.tensor);
      throw UserError(refuse.at(
          loop.var,
          fmt::format("the loop over {} takes a part of {}, and {} takes sparse pieces whole", refuse.name(loop.var),
                      tensor, match.routine->name()),
          distributed ? fmt::format("communicate({{{}}}, {}) fetches just that part", tensor, refuse.name(loop.var))
                      : fmt::format("distribute({})", refuse.name(loop.var))));
    }
  }
}

void check_result(const ConcreteStatement& loops, const RoutineMatch& match, const IndexVar& at,
                  schedule::Refusal& refuse) {
  if (loops.result.format().is_dense() || lower::shared_operand(loops)) return;
  throw UserError(refuse.at(at,
                            fmt::format("{} stores what comes out of the loops, and {} writes values alone",
                                        refuse.name(loops.result), match.routine->name()),
                            "make the result dense, or let it store what one of the operands does"));
}

void check_processor(const RoutineMatch& match, Processor processor, const IndexVar& at, schedule::Refusal& refuse) {
  Processor of_routine = match.routine->said().processor;
  if (of_routine == processor) return;
  require(of_routine == CPU, "what asks for a routine of a GPU has found one");
  throw UserError(refuse.at(at, fmt::format("{} runs on the CPU, and the tensors live on GPUs", match.routine->name()),
                            "leave ',gpu' out of the machine, or take a routine of the GPU"));
}

}  // namespace

std::string check_substituted(Process& process, const Compiled& compiled, Processor processor) {
  const ConcreteStatement& loops = compiled.loops();
  const Forall* replaced = routine::find_substituted(loops.body);
  if (!replaced) return "";
  schedule::Refusal refuse(Substitute::name, loops);
  RoutineMatch match = routine::match(replaced->tags.leaf, Stmt(*replaced)).value();
  std::vector<Forall> around = loops_to(loops.body, replaced->var);
  around.pop_back();
  check_processor(match, processor, replaced->var, refuse);
  check_result(loops, match, replaced->var, refuse);
  check_cuts(compiled, match, around, refuse);
  routine::FoundRoutine found;
  runtime::together(process.transport(), [&] { found = match.routine->find(process.libraries); });
  return named(*match.routine, found);
}

codegen::Kernel calling(routine::LeafLoops loops, const ConcreteStatement& statement,
                        const routine::Libraries& libraries, DevicePlace device) {
  loops.device = device;
  routine::FoundRoutine found = loops.match.routine->find(libraries);
  std::vector<IndexVar> outer;
  for (const auto& [var, scalar] : loops.outer) outer.push_back(var);
  std::string text = fmt::format("// leaf {}\n{}\n", named(*loops.match.routine, found),
                                 Printer(ArgumentText::Name).inside(statement, outer));
  return codegen::Kernel::from_function(
      [call = routine::RoutineCall(std::move(loops), std::move(found))](spd_call& c) { return call(c); },
      std::move(text));
}

// What a routine takes the place of, and how its kernel is called.
std::shared_ptr<const routine::LeafLoops> Leaf::find_routine() {
  const Forall* replaced = routine::find_substituted(statement_.body);
  if (!replaced) return nullptr;
  std::vector<IndexVar> around;
  for (const Forall& loop : loops_to(statement_.body, replaced->var)) around.push_back(loop.var);
  around.pop_back();
  RoutineMatch match = routine::match(replaced->tags.leaf, Stmt(*replaced)).value();
  // Values of the loops around come with the call.
  std::vector<std::pair<IndexVar, size_t>> outer;
  for (const IndexVar& var : options_.outer) {
    lower::RunTimeNumber value = lower::OuterValue{var};
    std::vector<lower::RunTimeNumber>& all = kernel_.scalars;
    outer.emplace_back(var, size_t(std::find(all.begin(), all.end(), value) - all.begin()));
    if (outer.back().second == all.size()) all.push_back(value);
  }
  kernel_.may_be_numbered = false;
  // A piece of the result may have elements that the loops do not come to, and several calls may come to one of them.
  bool in_parts = options_.operands == lower::Operands::Pieces || !around.empty();
  if (start() == Start::Zero && in_parts) kernel_.fill_first = true;
  bool combines = match.operation != AssignOp::Set && (start() == Start::Old || !around.empty());
  routine::LeafLoops out{.match = std::move(match),
                         .provenance = statement_.provenance,
                         .outer = std::move(outer),
                         .around = std::move(around),
                         .numbers = {0},
                         .widths = {{}},
                         .swept = kernel_.swept,
                         .start = combines ? LeafStart::Combine : LeafStart::Overwrite,
                         .filled = kernel_.fill_first};
  if (kernel_.assembly == lower::Assembly::Shared) out.widths[0] = widths_[size_t(kernel_.shared_tensor) - 1];
  for (size_t k = 1; k < out.match.tensors.size(); k++) {
    auto same = [&](const notation::Access& a) { return structurally_equal(a, out.match.tensors[k].access); };
    auto operand = std::find_if(kernel_.operands.begin(), kernel_.operands.end(), same);
    require(operand != kernel_.operands.end(), "what a routine reads, its loops do");
    out.numbers.push_back(size_t(operand - kernel_.operands.begin()) + 1);
    out.widths.push_back(widths_[out.numbers.back() - 1]);
  }
  return std::make_shared<const routine::LeafLoops>(std::move(out));
}

}  // namespace spdistal
