#include "passes/pipeline.hpp"

#include <fmt/format.h>

#include <chrono>

#include "base/require.hpp"
#include "ir/print.hpp"
#include "ir/verify.hpp"

namespace spdistal::passes {

std::span<const Pass> pipeline(Target::Processor processor) {
  static constexpr Pass host[] = {
      {"simplify", simplify},
      {"block rows", block_rows},
      {"accumulate", accumulate},
      {"outer vectors", outer_vectors},
      {"hoist", hoist},
      {"propagate", propagate},
      {"unroll", unroll},
      {"propagate what was unrolled", propagate},
      {"vectorize", vectorize},
      {"simplify again", simplify},
      {"propagate again", propagate},
      {"simplify at last", simplify},
      {"stream", stream},
      {"remove unused", remove_unused},
      {"flatten", flatten},
      {"narrow", narrow},
      {"pairs", pairs},
      {"prefetch", prefetch},
  };
  static constexpr Pass device[] = {
      {"write out parts", write_out_parts},
      {"simplify", simplify},
      {"accumulate", accumulate},
      {"hoist", hoist},
      {"propagate", propagate},
      {"unroll", unroll},
      {"simplify again", simplify},
      {"propagate again", propagate},
      {"simplify at last", simplify},
      {"remove unused", remove_unused},
      {"narrow", narrow},
  };
  return processor == Target::Processor::Host ? std::span<const Pass>(host) : std::span<const Pass>(device);
}

ir::Function optimize(const ir::Function& f, const PipelineOptions& options) {
  bool known = options.stop_after.empty();
  std::span<const Pass> passes = pipeline(options.target.processor);
  for (const Pass& pass : passes) known |= pass.name == options.stop_after;
  require(known, "the pass to stop after exists");
  ir::Function now = f;
  for (const Pass& pass : passes) {
    auto start = std::chrono::steady_clock::now();
    ir::Function next = pass.run(now, options.target);
    std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    if (options.check == Check::AfterEach) {
      auto legal = ir::verify(next);
      if (!legal)
        throw InternalError(fmt::format("internal error: pass '{}' made an illegal kernel.\n{}\n{}", pass.name,
                                        legal.refusal().str(), ir::print(next)));
    }
    if (options.listen) {
      bool changed = !(next.body == now.body) || next.params.size() != now.params.size();
      options.listen({pass.name, took.count(), now, next, changed});
    }
    now = std::move(next);
    if (pass.name == options.stop_after) break;
  }
  return now;
}

}  // namespace spdistal::passes
