// Kernels on pieces of random programs against the dense evaluator.
#include <gtest/gtest.h>

#include <cstdlib>
#include <random>

#include "compile/choose.hpp"
#include "notation/print.hpp"
#include "oracle/in_pieces.hpp"
#include "support/random_distribution.hpp"
#include "support/random_program.hpp"
#include "support/random_schedule.hpp"

namespace spdistal {
namespace {

using namespace notation;
using test::Caller;
using test::InPieces;

struct Seen {
  std::map<lower::Assembly, int> kinds = {};
  int numbered = 0;
};

void check_random(int seed, const Caller& caller, Seen& seen) {
  std::mt19937_64 random{uint64_t(seed)};
  test::RandomProgram c = test::draw_finite_program(random);
  ScheduledStatement said = make_statement(c.assignment);
  c.assignment = said.assignment;
  ConcreteStatement statement = said.scheduled;
  if (seed % 4 == 1) statement = test::draw_distributed(random, statement, nullptr).statement;
  else if (seed % 4 != 0) statement = test::draw_schedule(random, statement, 10).statement;
  std::vector<IndexVar> outer = test::first_loops(statement, 1 + size_t(seed) % 3);
  Printer names;
  std::string loops = names(statement), formats;
  for (const auto& [tensor, array] : c.arrays) formats += names.name(tensor) + ":" + tensor.format().str() + " ";
  for (const IndexVar& var : outer) formats += "; outer " + names.name(var);
  SCOPED_TRACE("seed " + std::to_string(seed) + ": " + print(c.assignment) + "  " + formats + "\n" + loops);
  try {
    InPieces pieces(c.assignment, statement, outer, c.arrays, random, int64_t(1 + seed % 3));
    if (!pieces.can_be_cut()) return;
    pieces.check(caller);
    seen.kinds[pieces.assembly]++;
    seen.numbered += pieces.numbered > 0;
  } catch (const std::exception& error) { FAIL() << error.what(); }
}

TEST(RandomPieces, AgreeWithTheDenseEvaluatorOnRandomProgramsThroughTheInterpreter) {
  int cases = std::getenv("FULL_TESTS") ? 50000 : 3000;
  int from = std::getenv("SEED") ? std::atoi(std::getenv("SEED")) : 1;
  if (std::getenv("SEED")) cases = from;
  Seen seen;
  for (int seed = from; seed <= cases && !HasFailure(); seed++) check_random(seed, test::interpreted, seen);
  for (auto kind : {lower::Assembly::Dense, lower::Assembly::Shared, lower::Assembly::Appended,
                    lower::Assembly::Scattered, lower::Assembly::Listed})
    if (from == 1 && !HasFailure()) { EXPECT_GT(seen.kinds[kind], 20); }
  if (from == 1 && !HasFailure()) { EXPECT_GT(seen.numbered, 30); }
}

}  // namespace
}  // namespace spdistal
