#include "execute/move/regions.hpp"

#include <gtest/gtest.h>

namespace spdistal {
namespace {

using runtime::Space;

Space every_other(int64_t count) {
  std::vector<int64_t> numbers;
  for (int64_t k = 0; k < count; k++) numbers.push_back(2 * k);
  return Space::from_sorted(std::span<const int64_t>(numbers));
}

TEST(FillUp, MakesARangeOfTheShortestListUntilFewRectanglesAreLeft) {
  std::vector<Space> sets{every_other(10), every_other(4), every_other(6)};
  fill_up(sets, 60);
  EXPECT_EQ(sets, (std::vector<Space>{every_other(10), Space::interval(0, 7), every_other(6)}));
  fill_up(sets, 59);
  EXPECT_EQ(sets, (std::vector<Space>{every_other(10), Space::interval(0, 7), Space::interval(0, 11)}));
}

TEST(FillUp, LeavesOneListAsItIsHoweverLong) {
  std::vector<Space> sets{Space::interval(0, 5), every_other(100), Space(1)};
  std::vector<Space> before = sets;
  fill_up(sets, 10);
  EXPECT_EQ(sets, before);
}

}  // namespace
}  // namespace spdistal
