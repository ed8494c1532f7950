// Kernels against the dense evaluator: the same random programs as for the interpreter, compiled. Each runs in a process of its own:
// one that crashes is a finding as any other.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <random>

#include "codegen/jit.hpp"
#include "compile/choose.hpp"
#include "execute/call.hpp"
#include "notation/concretize.hpp"
#include "notation/print.hpp"
#include "reference/evaluate.hpp"
#include "support/isolated.hpp"
#include "support/random_program.hpp"
#include "support/random_schedule.hpp"
#include "support/random_tensor.hpp"
#include "support/shrink.hpp"
#include "tensor/pack.hpp"

namespace spdistal {
namespace {

using namespace notation;

std::string find_fault_here(const test::BuiltProgram& program, codegen::Jit& jit) {
  runtime::HostContext context(2);
  test::StoredProgram data(program);
  reference::Arrays wanted = program.arrays;
  reference::evaluate(program.assignment, wanted);
  try {
    Leaf leaf(program.statement, data.storages);
    codegen::Kernel kernel = jit.load(leaf.function());
    Storage result = compute(leaf, data.storages, context, [&](spd_call& call) { kernel(call); });
    if (Result<> sound = verify(result); !sound) return sound.refusal().str() + "\n" + kernel.text();
    if (!(test::to_array(result) == wanted.at(program.assignment.lhs.tensor)))
      return "the result is not what the statement says\n" + print(program.statement) + "\n" + kernel.text();
  } catch (const std::exception& error) { return error.what(); }
  return "";
}

std::optional<std::string> find_fault(const test::BuiltProgram& program, codegen::Jit& jit) {
  std::string fault = test::isolated([&] { return find_fault_here(program, jit); }, 60);
  if (fault.empty()) return std::nullopt;
  return fault;
}

void try_random_programs(codegen::Jit& jit, int first, int cases) {
  for (int seed = first; seed < first + cases; seed++) {
    std::mt19937_64 random{uint64_t(seed)};
    test::RandomProgram c = test::draw_finite_program(random);
    ScheduledStatement statement = make_statement(c.assignment);
    c.assignment = statement.assignment;
    ConcreteStatement loops = statement.scheduled;
    // A third each: plain loops, the default schedule, a random one.
    test::BuiltProgram program{c.assignment, c.arrays, loops, {}};
    std::vector<Command> commands = test::as_it_stands(loops);
    if (seed % 3 == 1) {
      program.statement = over_threads(loops);
      commands.clear();
    }
    if (seed % 3 == 0) {
      test::RandomSchedule schedule = test::draw_schedule(random, loops, 12);
      program.statement = schedule.statement;
      commands.insert(commands.end(), schedule.commands.begin(), schedule.commands.end());
    }
    if (test::has_any(test::write_down(c.assignment, c.arrays, loops, commands), test::open_faults())) continue;
    if (std::optional<std::string> fault = find_fault(program, jit)) {
      test::ProgramCase written = test::write_down(c.assignment, c.arrays, loops, commands);
      written.setting = {.threads = 2, .leaves = test::Leaves::Compiled};
      FAIL() << *fault << "\n"
             << test::report("compiled", uint64_t(seed), written,
                             test::once_built([&](const test::BuiltProgram& p) { return find_fault(p, jit); }), 300);
    }
  }
}

TEST(Compiled, AgreesWithTheDenseEvaluatorOnRandomPrograms) {
  codegen::Jit jit{codegen::JitOptions{}};
  if (!jit.compiles()) GTEST_SKIP() << "there is no compiler";
  try_random_programs(jit, 1000000, std::getenv("FULL_TESTS") ? 5000 : 300);
}

TEST(Compiled, AgreesWithTheDenseEvaluatorWhereClangCompiles) {
  codegen::JitOptions options;
  options.compiler = "clang++";
  codegen::Jit jit{options};
  if (!jit.compiles()) GTEST_SKIP() << "there is no clang";
  try_random_programs(jit, 2000000, std::getenv("FULL_TESTS") ? 1000 : 50);
}

}  // namespace
}  // namespace spdistal
