// The whole path, in order. What lies below the plan is made when somebody first asks for it, for the data that is met.
#include "compile/compile.hpp"

#include "base/require.hpp"
#include "codegen/processor.hpp"
#include "compile/check.hpp"
#include "compile/substituted.hpp"
#include "lower/workspace.hpp"
#include "notation/presence.hpp"
#include "passes/pipeline.hpp"

namespace spdistal {

using namespace notation;

// check, choose a schedule, convert operands
Compiled compile(Process& process, const ScheduledStatement& said, const Homes& homes) {
  runtime::Ledger sent;
  runtime::Recording recording(process.transport().sent(), sent);
  agree_on(process.transport(), said);
  note_what_is_slow(process, said);
  Processor processor = is_for_gpus(said) ? GPU : CPU;
  if (processor == GPU) process.gpus();  // refused before anything is computed
  Compiled out(choose(process, said, pieces_of(said, process.transport().size()), homes));
  bind_pieces(out.loops(), process.transport().size());
  // Numbers that are computed of numbers stay where these are.
  if (runs_on_gpu(out.loops()) || outer_loops(out.loops().body).empty()) out.processor = processor;
  for (CompiledCopy& copy : out.copies)
    if (runs_on_gpu(copy.loops.loops())) copy.loops.processor = processor;
  out.routine = check_substituted(process, out, processor);
  out.residence = said.residence;
  out.sent = std::move(sent);
  return out;
}

Compiled::Compiled(Chosen chosen) : chosen_(std::move(chosen)) {
  for (Conversion& c : chosen_.conversions) copies.push_back({c.from, Compiled(std::move(c.statement))});
}

// distribute
const plan::Plan& Compiled::plan() const {
  if (!plan_) plan_ = lower::distribute(loops());
  return *plan_;
}

// a kernel for what is met
const Leaf& Compiled::leaf(LeafKind kind, const PatternOf& pattern) {
  for (const auto& [other, leaf] : leaves_)
    if (other == kind && leaf->fits(pattern)) return *leaf;
  Widths widths = [&](const notation::Access& access) {
    const Pattern* met = pattern(access);
    return met ? widths_of(*met) : narrowest_widths(access.tensor);
  };
  LeafOptions options = options_of(kind);
  if (processor == GPU) options.mapping.average_row = average_row(lower::operands_of(loops_of(kind)), pattern);
  leaves_.emplace_back(kind, std::make_unique<Leaf>(loops_of(kind), widths, std::move(options)));
  return *leaves_.back().second;
}

// lower
Leaf::Leaf(const ConcreteStatement& statement, const Widths& widths, LeafOptions options)
    : options_(std::move(options)),
      operation_(operation_of(statement)),
      statement_(lower::insert_workspace(strip_loops(statement, options_.outer), options_.outer)),
      widths_(widths_of_operands(statement_, widths)),
      kernel_(lower::lower(statement_, lowering(statement_, widths_, options_, ScalarType::Int32))),
      routine_(find_routine()) {}

// passes
const ir::Function& Leaf::function() const {
  passes::Target target{codegen::vector_bytes()};
  if (options_.processor == GPU) target.processor = passes::Target::Processor::Device;
  auto optimized = [target](const ir::Function& f) { return passes::optimize(f, {.target = target}); };
  if (function_) return *function_;
  function_ = optimized(kernel_.function);
  if (!is_placed() && kernel_.assembly != lower::Assembly::Listed)
    function_->instead = [=, loops = statement_, widths = widths_, options = options_] {
      return optimized(lower::lower(loops, lowering(loops, widths, options, ScalarType::Int64)).function);
    };
  return *function_;
}

// grids, where it runs on a device
ir::Launches Leaf::launches() const { return passes::launches(function(), options_.mapping); }

// compile
codegen::Kernel Leaf::make_code(Process& process, DevicePlace device) const {
  require((options_.processor == GPU) == device.has_value(), "kernels of GPUs run where one is, others on the host");
  if (routine_) return calling(*routine_, statement_, process.libraries, device);
  if (!device) return process.jit.load(function());
  std::function<ir::Launches()> instead;
  if (function().instead)
    instead = [make = function().instead, mapping = options_.mapping] { return passes::launches(make(), mapping); };
  return process.gpu(*device).load(launches(), instead);
}

}  // namespace spdistal
