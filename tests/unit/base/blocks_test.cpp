#include "base/blocks.hpp"

#include <gtest/gtest.h>

namespace spdistal {
namespace {

TEST(Blocks, CoverEveryElementOnceInOrderForAnyNumberOfPieces) {
  for (int64_t n : {0, 1, 2, 3, 7, 10, 100})
    for (int64_t p : {1, 2, 3, 4, 5, 7, 12, 200}) {
      int64_t next = 0;
      for (int64_t c = 0; c < p; c++) {
        Range r = block(n, p, c);
        EXPECT_EQ(r.lo, next) << n << " in " << p;
        EXPECT_LE(r.lo, r.hi);
        for (int64_t x = r.lo; x < r.hi; x++) EXPECT_EQ(block_of(n, p, x), c);
        next = r.hi;
      }
      EXPECT_EQ(next, n);
    }
}

TEST(Blocks, AreOfCeilingSizeSoThatTheLastOnesMayBeShortOrEmpty) {
  EXPECT_EQ(block(10, 4, 0), (Range{0, 3}));
  EXPECT_EQ(block(10, 4, 3), (Range{9, 10}));
  EXPECT_EQ(block(4, 3, 2), (Range{4, 4}));
}

TEST(Blocks, DoNotOverflowForHugeSizes) {
  int64_t n = INT64_MAX;
  EXPECT_EQ(block(n, 2, 1).hi, n);
  EXPECT_EQ(block(3, INT64_MAX, INT64_MAX - 1), (Range{3, 3}));
}

}  // namespace
}  // namespace spdistal
