// Kernels against the dense evaluator: random statements, formats, orders and schedules through the interpreter.
#include <gtest/gtest.h>

#include <cstdlib>
#include <random>

#include "compile/choose.hpp"
#include "execute/call.hpp"
#include "ir/interpret.hpp"
#include "ir/print.hpp"
#include "ir/verify.hpp"
#include "notation/concretize.hpp"
#include "notation/print.hpp"
#include "reference/evaluate.hpp"
#include "runtime/device/host_context.hpp"
#include "support/random_program.hpp"
#include "support/random_schedule.hpp"
#include "support/random_tensor.hpp"
#include "support/shrink.hpp"
#include "tensor/pack.hpp"

namespace spdistal {
namespace {

using namespace notation;

// How many results were made in which way, and how many of them in parts that threads append.
struct Kinds {
  std::map<lower::Assembly, int> made;
  int in_parts = 0;

  void count(const lower::Lowered& kernel, int64_t threads) {
    made[kernel.assembly]++;
    bool appends = false;
    each<ir::Append>(kernel.function.body, [&](const ir::Append&) { appends = true; });
    in_parts += threads > 1 && appends;
  }
};

// What is wrong with a program through the interpreter with so many threads.
std::optional<std::string> find_fault(const test::BuiltProgram& program, int64_t threads, Kinds* kinds = nullptr) {
  test::StoredProgram data(program);
  reference::Arrays wanted = program.arrays;
  reference::evaluate(program.assignment, wanted);
  try {
    Leaf leaf(program.statement, data.storages);
    if (kinds) kinds->count(leaf.kernel(), threads);
    auto with_kernel = [&](const std::string& fault) {
      return fault + "\n" + print(program.statement) + "\n" + ir::print(leaf.kernel().function);
    };
    if (Result<> legal = ir::verify(leaf.kernel().function); !legal) return with_kernel(legal.refusal().str());
    runtime::HostContext context(threads);
    Storage result = compute(leaf, data.storages, context,
                             [&](spd_call& call) { ir::interpret(leaf.function(), call, ir::Races::Found); });
    if (Result<> sound = verify(result); !sound) return with_kernel(sound.refusal().str());
    if (!(test::to_array(result) == wanted.at(program.assignment.lhs.tensor)))
      return with_kernel("the result is not what the statement says");
  } catch (const std::exception& error) { return error.what(); }
  return std::nullopt;
}

TEST(Leaf, AgreesWithTheDenseEvaluatorOnRandomProgramsThroughTheInterpreter) {
  int cases = std::getenv("FULL_TESTS") ? 200000 : 20000;
  int from = std::getenv("SEED") ? std::atoi(std::getenv("SEED")) : 1;
  if (std::getenv("SEED")) cases = from;
  Kinds kinds;
  for (int seed = from; seed <= cases; seed++) {
    std::mt19937_64 random{uint64_t(seed)};
    test::RandomProgram c = test::draw_finite_program(random);
    ScheduledStatement statement = make_statement(c.assignment);
    c.assignment = statement.assignment;
    ConcreteStatement loops = statement.scheduled;
    // A third each: plain loops, what runs by default, a random schedule.
    test::BuiltProgram program{c.assignment, c.arrays, loops, {}};
    std::vector<Command> commands = test::as_it_stands(loops);
    if (seed % 3 == 1) {
      Converted converted = insert_conversions(c.assignment);
      program.statement = over_threads(concretize(converted.assignment).value());
      program.conversions = converted.conversions;
      commands.clear();
    }
    if (seed % 3 == 0) {
      test::RandomSchedule schedule = test::draw_schedule(random, loops, 12);
      program.statement = schedule.statement;
      commands.insert(commands.end(), schedule.commands.begin(), schedule.commands.end());
    }
    if (test::has_any(test::write_down(c.assignment, c.arrays, loops, commands), test::open_faults())) continue;
    int64_t threads = 1 + seed / 3 % 3;
    if (std::optional<std::string> fault = find_fault(program, threads, &kinds)) {
      test::ProgramCase written = test::write_down(c.assignment, c.arrays, loops, commands);
      written.setting.threads = threads;
      FAIL() << *fault << "\n"
             << test::report("leaf", uint64_t(seed), written,
                             test::once_built([&](const test::BuiltProgram& p) { return find_fault(p, threads); }));
    }
  }
  for (auto kind : {lower::Assembly::Dense, lower::Assembly::Shared, lower::Assembly::Appended,
                    lower::Assembly::Scattered, lower::Assembly::Listed})
    if (cases > 1000) { EXPECT_GT(kinds.made[kind], 100); }
  if (cases > 1000) { EXPECT_GT(kinds.in_parts, 10); }
}

}  // namespace
}  // namespace spdistal
