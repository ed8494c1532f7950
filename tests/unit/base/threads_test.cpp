#include "base/threads.hpp"

#include <gtest/gtest.h>
#include <omp.h>

#include "spdistal/error.hpp"

namespace spdistal {
namespace {

// Tests of one program run one after the other, and leave the number as it was.
struct LoopThreads : testing::Test {
  int before = loop_threads();
  ~LoopThreads() override { use_loop_threads(before); }
};

TEST_F(LoopThreads, AreAsManyAsWasSaid) {
  for (int count : {3, 1, 2}) {
    use_loop_threads(count);
    int seen = 0;
#pragma omp parallel num_threads(loop_threads()) reduction(+ : seen)
    seen += 1;
    EXPECT_EQ(seen, count);
  }
}

TEST_F(LoopThreads, AreTheSameForAllThreadsOfTheProcess) {
  use_loop_threads(2);
  int of_others = 0;
#pragma omp parallel num_threads(2) reduction(max : of_others)
  of_others = loop_threads();
  EXPECT_EQ(of_others, 2);
}

TEST_F(LoopThreads, AreOneAtLeast) { EXPECT_THROW(use_loop_threads(0), InternalError); }

}  // namespace
}  // namespace spdistal
