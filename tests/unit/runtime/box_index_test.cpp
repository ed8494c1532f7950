#include "runtime/space/box_index.hpp"

#include <gtest/gtest.h>

#include <random>

namespace spdistal::runtime {
namespace {

using Box = std::vector<Range>;

// From the definition: a point that both have.
bool meet(const Box& a, const Box& b) {
  for (size_t k = 0; k < a.size(); k++) {
    bool common = false;
    for (int64_t x = a[k].lo; x < a[k].hi; x++) common |= b[k].contains(x);
    if (!common) return false;
  }
  return true;
}

TEST(BoxIndex, FindsJustTheBoxesThatHaveAPointInCommon) {
  std::mt19937 random(5);
  auto number = [&](int lo, int hi) { return std::uniform_int_distribution<int64_t>(lo, hi)(random); };
  for (int round = 0; round < 2000; round++) {
    size_t axes = size_t(number(0, 3));
    auto box = [&] {
      Box out;
      for (size_t k = 0; k < axes; k++) {
        int64_t lo = number(-3, 12);
        out.push_back({lo, lo + number(0, 5)});
      }
      return out;
    };
    std::vector<Box> boxes;
    for (int64_t n = number(0, 12); n > 0; n--) boxes.push_back(box());
    BoxIndex index(boxes);
    Box sought = box();
    std::vector<int64_t> expected;
    for (size_t b = 0; b < boxes.size(); b++)
      if (meet(boxes[b], sought)) expected.push_back(int64_t(b));
    ASSERT_EQ(index.meeting(sought), expected) << "round " << round;
  }
}

}  // namespace
}  // namespace spdistal::runtime
