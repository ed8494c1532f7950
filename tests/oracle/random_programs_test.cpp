// Random programs whole against the dense evaluator: statements, data, machines, places, schedules, ranks and threads,
// interpreted and compiled, in processes of their own with memory poisoned.
#include <gtest/gtest.h>

#include <cstdlib>
#include <thread>

#include "support/sweep.hpp"

namespace spdistal::test {
namespace {

TEST(RandomPrograms, AgreeWithTheDenseEvaluator) {
  SweepOptions options{.name = "random_programs", .programs = std::getenv("FULL_TESTS") ? 200000u : 12000u, .jobs = 2};
  options.draws.compiled_one_in = 200;
  options.most_findings = 3;
  if (std::getenv("FULL_TESTS")) options.jobs = int(std::max(1u, std::thread::hardware_concurrency()));
  if (const char* seed = std::getenv("SEED"))
    options.first_seed = std::strtoull(seed, nullptr, 10), options.programs = 1;
  Sweep found = sweep(options);
  for (const std::string& finding : found.findings) ADD_FAILURE() << finding;
  if (!std::getenv("SEED") && found.findings.empty()) {
    EXPECT_EQ(found.programs, options.programs);
    EXPECT_LT(found.refused, found.programs / 20) << summary(found);
  }
}

}  // namespace
}  // namespace spdistal::test
