#include "base/loop_errors.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>

namespace spdistal {
namespace {

TEST(LoopErrors, LeaveAParallelLoopBehindIt) {
  LoopErrors errors;
  std::atomic<int> turns{0};
#pragma omp parallel for num_threads(4)
  for (int k = 0; k < 100; k++)
    errors([&] {
      turns++;
      if (k % 10 == 3) throw std::runtime_error("three");
    });
  EXPECT_EQ(turns, 100) << "the other turns are taken";
  EXPECT_THROW(errors.raise(), std::runtime_error);
}

TEST(LoopErrors, AreNoneWhereNothingWasThrown) {
  LoopErrors errors;
  errors([] {});
  errors.raise();
}

}  // namespace
}  // namespace spdistal
