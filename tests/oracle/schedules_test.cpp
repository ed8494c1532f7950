// Schedules keep the meaning of statements: random legal schedules, executed loop by loop, give what the statement says.
#include <gtest/gtest.h>

#include <cstdlib>
#include <random>

#include "compile/choose.hpp"
#include "notation/print.hpp"
#include "reference/evaluate.hpp"
#include "reference/execute.hpp"
#include "support/random_program.hpp"
#include "support/random_schedule.hpp"
#include "support/shrink.hpp"

namespace spdistal {
namespace {

using namespace notation;

std::optional<std::string> find_fault(const test::BuiltProgram& program) {
  if (!program.conversions.empty()) return std::nullopt;  // chosen, not scheduled: no matter of this test
  reference::Arrays wanted = program.arrays, found = program.arrays;
  reference::evaluate(program.assignment, wanted);
  try {
    reference::execute(program.statement, found);
  } catch (const std::exception& error) { return error.what(); }
  const TensorVar& result = program.assignment.lhs.tensor;
  if (wanted.at(result) == found.at(result)) return std::nullopt;
  return "the loops do not compute what the statement says\n" + print(program.statement);
}

TEST(Schedules, KeepTheMeaningOfStatementsForTenThousandRandomOnes) {
  int cases = std::getenv("FULL_TESTS") ? 100000 : 10000;
  std::map<std::string, int> accepted;
  for (int seed = 1; seed <= cases; seed++) {
    std::mt19937_64 random{uint64_t(seed)};
    test::RandomProgram c = test::draw_finite_program(random);
    ScheduledStatement statement = make_statement(c.assignment);
    c.assignment = statement.assignment;
    ConcreteStatement concrete = statement.scheduled;
    test::RandomSchedule schedule = test::draw_schedule(random, concrete, 24, &accepted);

    test::BuiltProgram program{c.assignment, c.arrays, schedule.statement, {}};
    if (std::optional<std::string> fault = find_fault(program)) {
      std::vector<Command> commands = test::as_it_stands(concrete);
      commands.insert(commands.end(), schedule.commands.begin(), schedule.commands.end());
      FAIL() << *fault << "\n"
             << test::report("schedules", uint64_t(seed), test::write_down(c.assignment, c.arrays, concrete, commands),
                             test::once_built(find_fault));
    }
  }
  // Every command of the registry took part, most of them often.
  EXPECT_EQ(accepted.size(), std::variant_size_v<Command>);
  for (const auto& [name, times] : accepted) EXPECT_GT(times, 100) << name;
}

}  // namespace
}  // namespace spdistal
