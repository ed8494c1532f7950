// Kernels against the dense evaluator: random statements, formats, orders and schedules through the interpreter.
#include <gtest/gtest.h>

#include <cstdlib>
#include <random>

#include "codegen/memory.hpp"
#include "driver/leaf.hpp"
#include "driver/state.hpp"
#include "ir/interpret.hpp"
#include "ir/print.hpp"
#include "ir/verify.hpp"
#include "notation/concretize.hpp"
#include "notation/parse.hpp"
#include "reference/evaluate.hpp"
#include "schedule/print.hpp"
#include "support/random_program.hpp"
#include "support/random_schedule.hpp"
#include "support/random_tensor.hpp"
#include "tensor/pack.hpp"

namespace spdistal {
namespace {

using namespace notation;

TEST(Leaf, AgreesWithTheDenseEvaluatorOnRandomProgramsThroughTheInterpreter) {
  int cases = std::getenv("FULL_TESTS") ? 200000 : 20000;
  int from = std::getenv("SEED") ? std::atoi(std::getenv("SEED")) : 1;
  if (std::getenv("SEED")) cases = from;
  std::map<lower::Assembly, int> kinds;
  for (int seed = from; seed <= cases; seed++) {
    std::mt19937_64 random{uint64_t(seed)};
    test::RandomProgram c = test::draw_program(random);
    ConcreteStatement concrete = concretize(c.assignment).value();
    // A third each: plain loops, what runs by default, a random schedule.
    Converted converted{c.assignment, {}};
    if (seed % 3 == 1) {
      converted = insert_conversions(c.assignment);
      concrete = over_threads(concretize(converted.assignment).value());
    }
    test::RandomSchedule schedule = test::draw_schedule(random, concrete, seed % 3 == 0 ? 12 : 0);
    Printer names;
    std::string loops = names(schedule.statement), formats;
    for (const auto& [tensor, array] : c.arrays) formats += names.name(tensor) + ":" + tensor.format().str() + " ";
    SCOPED_TRACE("seed " + std::to_string(seed) + ": " + print(c.assignment) + "  " + formats + "\n" + loops);

    std::map<TensorVar, Storage> stored;
    Storages storages;
    for (const auto& [tensor, array] : c.arrays) stored.emplace(tensor, test::to_storage(array, tensor.format()));
    for (const Conversion& copy : converted.conversions)
      stored.emplace(copy.to, convert(stored.at(copy.from), copy.to.format()));
    for (const auto& [tensor, storage] : stored) storages.emplace(tensor, &storage);
    reference::Arrays wanted = c.arrays;
    reference::evaluate(c.assignment, wanted);
    try {
      Leaf leaf(schedule.statement, storages);
      kinds[leaf.kernel().assembly]++;
      SCOPED_TRACE(ir::print(leaf.kernel().function));
      if (Result<> legal = ir::verify(leaf.kernel().function); !legal) FAIL() << legal.refusal().str();
      codegen::HostContext context(int64_t(1 + seed % 3));
      Storage result = leaf.compute(storages, context,
                                    [&](spd_call& call) { ir::interpret(leaf.function(), call, ir::Races::Found); });
      if (Result<> sound = verify(result); !sound) FAIL() << sound.refusal().str();
      ASSERT_TRUE(test::to_array(result) == wanted.at(c.assignment.lhs.tensor));
    } catch (const std::exception& error) { FAIL() << error.what(); }
  }
  for (auto kind :
       {lower::Assembly::Dense, lower::Assembly::Shared, lower::Assembly::Appended, lower::Assembly::Listed})
    if (cases > 1000) { EXPECT_GT(kinds[kind], 100); }
}

}  // namespace
}  // namespace spdistal
