// Kernels against the dense evaluator: the same random programs as for the interpreter, compiled.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <random>

#include "codegen/jit.hpp"
#include "driver/leaf.hpp"
#include "driver/state.hpp"
#include "notation/concretize.hpp"
#include "reference/evaluate.hpp"
#include "support/random_program.hpp"
#include "support/random_schedule.hpp"
#include "support/random_tensor.hpp"

namespace spdistal {
namespace {

using namespace notation;

TEST(Compiled, AgreesWithTheDenseEvaluatorOnRandomPrograms) {
  int cases = std::getenv("FULL_TESTS") ? 5000 : 500;
  codegen::Jit jit{codegen::JitOptions{}};
  if (!jit.compiles()) GTEST_SKIP() << "there is no compiler";
  codegen::HostContext context(2);
  for (int n = 0; n < cases; n++) {
    int seed = 1000000 + n;
    std::mt19937_64 random{uint64_t(seed)};
    test::RandomProgram c = test::draw_program(random);
    ConcreteStatement concrete = concretize(c.assignment).value();
    // A third each: plain loops, the default schedule, a random one.
    if (seed % 3 == 0) concrete = test::draw_schedule(random, concrete, 12).statement;
    if (seed % 3 == 1) concrete = over_threads(concrete);
    Printer names;
    std::string loops = names(concrete), formats;
    for (const auto& [tensor, array] : c.arrays) formats += names.name(tensor) + ":" + tensor.format().str() + " ";
    SCOPED_TRACE("seed " + std::to_string(seed) + ": " + print(c.assignment) + "  " + formats + "\n" + loops);

    std::map<TensorVar, Storage> stored;
    Storages storages;
    for (const auto& [tensor, array] : c.arrays) stored.emplace(tensor, test::to_storage(array, tensor.format()));
    for (const auto& [tensor, storage] : stored) storages.emplace(tensor, &storage);
    reference::Arrays wanted = c.arrays;
    reference::evaluate(c.assignment, wanted);
    try {
      Leaf leaf(concrete, storages);
      codegen::Kernel kernel = jit.load(leaf.function());
      Storage result = leaf.compute(storages, context, [&](spd_call& call) { kernel(call); });
      if (Result<> sound = verify(result); !sound) FAIL() << sound.refusal().str();
      ASSERT_TRUE(test::to_array(result) == wanted.at(c.assignment.lhs.tensor)) << kernel.text();
    } catch (const std::exception& error) { FAIL() << error.what(); }
  }
}

}  // namespace
}  // namespace spdistal
