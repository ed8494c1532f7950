#include "execute/binding.hpp"

#include "execute/move/device_moves.hpp"
#include "notation/presence.hpp"

namespace spdistal {

using namespace notation;

Binding::Binding(Process& in_process, Compiled& what, Shares of_result)
    : process(in_process),
      transport(process.transport()),
      compiled(what),
      plan(compiled.plan()),
      shares(std::move(of_result)),
      dims(known_dims(plan.leaf.result)),
      operation(operation_of(plan.leaf)),
      background(background_of(plan.leaf)),
      first{transport},
      fetches(transport, plan, first, notes),
      launcher(process, compiled, fetches, notes) {
  for (size_t k = 1; k < plan.accesses.size(); k++) reads_result |= plan.accesses[k].access.tensor == result();
}

void Binding::read(const lower::Lowered& kernel) {
  located = find_located(plan, kernel);
  numbered = find_numbered(plan, kernel);
  if (kernel.assembly == lower::Assembly::Shared)
    shared = {number_of(plan, kernel.operands[size_t(kernel.shared_tensor) - 1]), kernel.shared_level};
}

bool Binding::rests(int64_t colour, const StepValues& step) {
  return target(colour).idle || (!step.empty() && tasks->is_idle(colour, step));
}

void Binding::plan_targets(const StepValues& step) {
  targets.clear();
  first.together([&] {
    for (int64_t c = colours().lo; c < colours().hi; c++) {
      Need need = tasks->need(0, c, step, fetches.pieces());
      bool dense = result().format().is_dense();
      ResultTarget target{dense ? select_coordinates(plan.accesses[0], need) : std::move(need.coordinates),
                          {},
                          tasks->is_idle(c, step)};
      for (const std::optional<Range>& r : tasks->ranges(0, c, step, fetches.pieces()))
        target.ranges.push_back(r.value());
      targets.push_back(std::move(target));
    }
  });
}

Homes Binding::sources(const PlanRun& run) const {
  Homes out = run.operands;
  if (run.before) out[result()] = &*run.before;
  return out;
}

void Binding::await_operands(const PlanRun& run) {
  if (run.step.empty()) exchanging([&] { fetches.finish(); });
}

void Binding::fetch_ahead(const PlanRun& run) {
  if (run.launches + 1 < tasks->steps().size())
    exchanging([&] { fetches.fetch_ahead(sources(run), tasks->steps()[run.launches + 1]); });
}

runtime::DeviceMoves* Binding::moves() { return compiled.processor == GPU ? &moves_of(process) : nullptr; }

}  // namespace spdistal
