// Random programs on machines of GPUs: several for each rank, shared out between ranks, and fewer than there are ranks.
#include <gtest/gtest.h>

#include <cstdlib>
#include <mutex>

#include "mpi/ranks.hpp"
#include "support/run_case.hpp"
#include "support/sweep.hpp"

namespace spdistal {
namespace {

using runtime::Transport;

int programs() {
  if (const char* count = std::getenv("PROGRAMS")) return std::atoi(count);
  return std::getenv("FULL_TESTS") ? 1000 : 40;
}

/// GPUs of a node: so many for each rank, or so many altogether.
struct OfNode {
  int for_each_rank, altogether;
};

void expect_right(const OfNode& gpus) {
  int run = 0;
  for (uint64_t seed = 1; run < programs(); seed++) {
    test::ProgramCase program = test::case_of(seed, {});
    if (program.setting.gpus == 0) continue;
    run++;
    std::string fault;
    std::mutex mutex;
    try {
      const test::BuiltProgram built = test::build(program);
      runtime::testkit::on_ranks([&](Transport& t) {
        test::BuiltProgram here = built;
        here.setting.gpus = gpus.for_each_rank * t.size() + gpus.altogether;
        if (std::optional<std::string> found = test::find_fault(t, here)) {
          std::lock_guard lock(mutex);
          fault = *found;
        }
      });
    } catch (const UserError&) {}  // refused
    ASSERT_EQ(fault, "") << "seed " << seed << "\n" << test::describe(program);
  }
}

TEST(Gpus, RandomProgramsAreRightOnTwoForEachRank) { expect_right({2, 0}); }
TEST(Gpus, RandomProgramsAreRightOnThreeForEachRank) { expect_right({3, 0}); }
TEST(Gpus, RandomProgramsAreRightWhereRanksShareOne) { expect_right({0, 1}); }
TEST(Gpus, RandomProgramsAreRightWhereRanksShareTwo) { expect_right({0, 2}); }

}  // namespace
}  // namespace spdistal
