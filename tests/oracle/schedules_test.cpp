// Schedules keep the meaning of statements: random legal schedules, executed loop by loop, give what the statement says.
#include <gtest/gtest.h>

#include <cstdlib>
#include <random>

#include "notation/check.hpp"
#include "notation/concretize.hpp"
#include "notation/print.hpp"
#include "reference/evaluate.hpp"
#include "reference/execute.hpp"
#include "schedule/print.hpp"
#include "support/random_program.hpp"
#include "support/random_schedule.hpp"

namespace spdistal {
namespace {

using namespace notation;

TEST(Schedules, KeepTheMeaningOfStatementsForTenThousandRandomOnes) {
  int cases = std::getenv("FULL_TESTS") ? 100000 : 10000;
  std::map<std::string, int> accepted;
  for (int seed = 1; seed <= cases; seed++) {
    std::mt19937_64 random{uint64_t(seed)};
    test::RandomProgram c = test::draw_program(random);
    ASSERT_TRUE(check(c.assignment)) << print(c.assignment);
    ConcreteStatement concrete = concretize(c.assignment).value();
    test::RandomSchedule schedule = test::draw_schedule(random, concrete, 24, &accepted);

    reference::Arrays wanted = c.arrays, found = c.arrays;
    reference::evaluate(c.assignment, wanted);
    Printer names;
    std::string loops = names(schedule.statement);
    SCOPED_TRACE("seed " + std::to_string(seed) + ": " + print(c.assignment) + "\n" +
                 schedule::print(schedule.commands, names) + "\n" + loops);
    ASSERT_NO_THROW(reference::execute(schedule.statement, found));
    ASSERT_TRUE(wanted.at(c.assignment.lhs.tensor) == found.at(c.assignment.lhs.tensor));
  }
  // Every command of the registry took part, most of them often.
  EXPECT_EQ(accepted.size(), std::variant_size_v<Command>);
  for (const auto& [name, times] : accepted) EXPECT_GT(times, 100) << name;
}

}  // namespace
}  // namespace spdistal
