// Which rank runs which colours, and which devices of its node it does that on.
#include "runtime/task/mapping.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace spdistal::runtime {
namespace {

TEST(Mapping, RanksOfANodeShareOutItsDevices) {
  EXPECT_EQ(devices_of(0, 1, 4), (Range{0, 4}));
  EXPECT_EQ(devices_of(1, 2, 4), (Range{2, 4}));
  EXPECT_EQ(devices_of(0, 4, 5), (Range{0, 1}));
  EXPECT_EQ(devices_of(3, 4, 5), (Range{3, 5}));
}

TEST(Mapping, ManyRanksShareADevice) {
  EXPECT_EQ(devices_of(0, 4, 2), (Range{0, 1}));
  EXPECT_EQ(devices_of(1, 4, 2), (Range{0, 1}));
  EXPECT_EQ(devices_of(2, 4, 2), (Range{1, 2}));
  for (int rank = 0; rank < 7; rank++) EXPECT_EQ(devices_of(rank, 7, 1), (Range{0, 1}));
}

TEST(Mapping, EveryDeviceIsUsedAndRanksHaveAboutAsMany) {
  for (int ranks = 1; ranks <= 9; ranks++)
    for (int devices = 1; devices <= 9; devices++) {
      std::vector<int> users(size_t(devices), 0);
      for (int rank = 0; rank < ranks; rank++) {
        Range mine = devices_of(rank, ranks, devices);
        ASSERT_GE(mine.lo, 0);
        ASSERT_LE(mine.hi, devices);
        ASSERT_GE(mine.size(), std::max(1, devices / ranks));
        ASSERT_LE(mine.size(), (devices + ranks - 1) / ranks);
        for (int64_t k = mine.lo; k < mine.hi; k++) users[size_t(k)]++;
      }
      for (int count : users) {
        EXPECT_GE(count, std::max(1, ranks / devices)) << ranks << " ranks, " << devices << " devices";
        EXPECT_LE(count, (ranks + devices - 1) / devices) << ranks << " ranks, " << devices << " devices";
      }
    }
}

}  // namespace
}  // namespace spdistal::runtime
