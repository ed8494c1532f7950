// Every pass keeps the meaning of random programs, to the last bit, and leaves them legal.
#include <gtest/gtest.h>

#include "ir/interpret.hpp"
#include "ir/print.hpp"
#include "ir/verify.hpp"
#include "passes/pipeline.hpp"
#include "unit/ir/random_program.hpp"

namespace spdistal::testing {
namespace {

RandomData run(const Function& f, unsigned seed) {
  RandomData data(seed);
  interpret(f, data.call().get(), Races::Found);
  return data;
}

TEST(Passes, KeepTheMeaningOfRandomPrograms) {
  for (unsigned seed = 0; seed < 3000; seed++) {
    Function f = RandomProgram(seed).make();
    auto legal = verify(f);
    ASSERT_TRUE(legal) << "seed " << seed << "\n" << legal.refusal().str() << print(f);
    RandomData expected = run(f, seed);
    for (const passes::Pass& pass : passes::pipeline()) {
      Function g = pass.run(f, {});
      auto still = verify(g);
      ASSERT_TRUE(still) << pass.name << ", seed " << seed << "\n" << still.refusal().str() << print(f) << print(g);
      ASSERT_TRUE(run(g, seed) == expected) << pass.name << ", seed " << seed << "\n" << print(f) << print(g);
    }
    for (int bytes : {16, 32, 64}) {
      Function g = passes::optimize(f, {.target = {bytes}, .check = passes::Check::AfterEach});
      ASSERT_TRUE(run(g, seed) == expected) << "all passes, seed " << seed << "\n" << print(f) << print(g);
    }
  }
}

}  // namespace
}  // namespace spdistal::testing
