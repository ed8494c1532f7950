// Kernels for GPUs against the dense evaluator: random programs, their grids interpreted in lockstep with races found, and
// their texts compiled where NVRTC is there.
#include <gtest/gtest.h>

#include <cstdlib>
#include <random>

#include "codegen/cuda.hpp"
#include "codegen/nvrtc.hpp"
#include "compile/choose.hpp"
#include "compile/leaf.hpp"
#include "execute/call.hpp"
#include "ir/print.hpp"
#include "ir/verify.hpp"
#include "notation/print.hpp"
#include "reference/evaluate.hpp"
#include "support/gpu.hpp"
#include "support/random_program.hpp"
#include "support/random_schedule.hpp"
#include "support/random_tensor.hpp"
#include "support/shrink.hpp"
#include "tensor/pack.hpp"

namespace spdistal {
namespace {

using namespace notation;

int programs() {
  if (const char* count = std::getenv("PROGRAMS")) return std::atoi(count);
  return std::getenv("FULL_TESTS") ? 20000 : 2000;
}

/// Grids that are not as they should be.
std::optional<std::string> illegal(const ir::Launches& launches) {
  for (const ir::Grid* grid : codegen::grids_of(launches.steps))
    if (auto legal = ir::verify(grid->function); !legal) return legal.refusal().str();
  return {};
}

std::optional<std::string> find_fault(const test::BuiltProgram& program, const passes::GridMapping& mapping) {
  test::StoredProgram data(program);
  reference::Arrays wanted = program.arrays;
  reference::evaluate(program.assignment, wanted);
  codegen::GpuJit& gpu = test::gpu();
  std::string text;
  try {
    Leaf leaf(program.statement, data.storages, LeafOptions{.processor = GPU, .mapping = mapping});
    ir::Launches launches = leaf.launches();
    if (auto fault = illegal(launches)) return *fault + "\n" + print(program.statement) + ir::print(leaf.function());
    codegen::Kernel kernel = gpu.load(launches);
    text = print(program.statement) + "\n" + kernel.text();
    runtime::HostContext context;
    Storage result = compute(
        leaf, data.storages, context, [&](spd_call& call) { kernel(call); }, gpu.device().place());
    if (Result<> sound = verify(result); !sound) return sound.refusal().str() + "\n" + text;
    if (!(test::to_array(result) == wanted.at(program.assignment.lhs.tensor)))
      return "the result is not what the statement says\n" + text;
  } catch (const std::exception& error) { return error.what() + ("\n" + text); }
  return std::nullopt;
}

/// The loops of a program for a GPU: as they are chosen, or scheduled at random.
std::optional<ConcreteStatement> loops_for_gpu(std::mt19937_64& random, const ConcreteStatement& loops) {
  if (random() % 2) return over_gpu(loops);
  ConcreteStatement scheduled = test::draw_schedule(random, loops, 12).statement;
  bool parallel = false;
  each<Forall>(scheduled.body, [&](const Forall& loop) { parallel |= loop.tags.parallel.has_value(); });
  if (!parallel) scheduled = over_gpu(scheduled);
  if (!runs_on_gpu(scheduled)) return {};
  return scheduled;
}

TEST(Gpu, RandomProgramsAgreeWithTheDenseEvaluatorWithoutRaces) {
  int first = 0, count = programs(), run = 0;
  if (const char* from = std::getenv("FIRST")) first = std::atoi(from);
  if (const char* seed = std::getenv("SEED")) first = std::atoi(seed), count = 1;
  for (int seed = first; run < count; seed++) {
    std::mt19937_64 random{uint64_t(seed)};
    test::RandomProgram c = test::draw_finite_program(random);
    ScheduledStatement statement = make_statement(c.assignment);
    std::optional<ConcreteStatement> loops = loops_for_gpu(random, statement.scheduled);
    if (!loops) {
      if (std::getenv("SEED")) return;
      continue;
    }
    run++;
    passes::GridMapping mapping;
    if (random() % 4) mapping.lanes = 1 << random() % 6;
    mapping.products = 32 << random() % 4;
    if (auto fault = find_fault({statement.assignment, c.arrays, *loops, {}}, mapping))
      FAIL() << "seed " << seed << ", " << mapping.lanes.value_or(0) << " lanes: " << *fault;
  }
}

TEST(Gpu, TextsOfRandomProgramsCompile) {
  codegen::NvrtcOptions options;
  if (const char* file = std::getenv("SPDISTAL_NVRTC")) options.libraries = {file};
  for (const char* architecture : {"compute_80", "compute_90"}) {
    options.architecture = architecture;
    auto nvrtc = codegen::Nvrtc::find(options);
    if (!nvrtc) GTEST_SKIP() << "no NVRTC on this machine";
    for (int seed = 0; seed < 40; seed++) {
      std::mt19937_64 random{uint64_t(seed)};
      test::RandomProgram c = test::draw_finite_program(random);
      ScheduledStatement statement = make_statement(c.assignment);
      test::BuiltProgram program{statement.assignment, c.arrays, over_gpu(statement.scheduled), {}};
      if (!runs_on_gpu(program.statement)) continue;
      test::StoredProgram data(program);
      Leaf leaf(program.statement, data.storages,
                LeafOptions{.processor = GPU, .mapping = {.lanes = 1 << random() % 6}});
      std::vector<ir::Function> functions;
      ir::Launches launches = leaf.launches();
      for (const ir::Grid* grid : codegen::grids_of(launches.steps)) functions.push_back(grid->function);
      std::string text = codegen::cuda_text(functions);
      try {
        nvrtc->compile(text, "kernel");
      } catch (const SystemError& e) { FAIL() << "seed " << seed << ": " << e.what() << "\n" << text; }
    }
  }
}

}  // namespace
}  // namespace spdistal
