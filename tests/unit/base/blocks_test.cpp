#include "base/blocks.hpp"

#include <gtest/gtest.h>

#include <numeric>
#include <random>
#include <vector>

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

int64_t start_of(const std::vector<int64_t>& weights, int64_t p, int64_t c) {
  return weighted_block(int64_t(weights.size()), p, c,
                        [&](int64_t x) { return std::accumulate(weights.begin(), weights.begin() + x, int64_t(0)); });
}

TEST(WeightedBlocks, BeginWithTheFirstThingWhoseMiddleLiesAtOrAfterTheCut) {
  std::mt19937_64 random(1);
  auto pick = [&](int64_t lo, int64_t hi) { return std::uniform_int_distribution<int64_t>(lo, hi)(random); };
  for (int round = 0; round < 300; round++) {
    std::vector<int64_t> weights(size_t(pick(0, 12)));
    for (int64_t& weight : weights) weight = pick(0, 2) * pick(0, 9);
    int64_t p = pick(1, 7), all = std::accumulate(weights.begin(), weights.end(), int64_t(0));
    for (int64_t c = 0; c < p; c++) {
      // Middles lie at half weights: all is counted twice.
      int64_t before = 0, first = 0;
      for (int64_t weight : weights) {
        if (p * (2 * before + weight) >= 2 * c * all) break;
        before += weight, first++;
      }
      EXPECT_EQ(start_of(weights, p, c), first) << "block " << c << " of " << p;
    }
    EXPECT_EQ(start_of(weights, p, 0), 0);
    EXPECT_EQ(start_of(weights, p, p), int64_t(weights.size()));
    EXPECT_EQ(start_of(weights, p, p + 3), int64_t(weights.size())) << "past the last block nothing is left";
  }
}

TEST(WeightedBlocks, GiveWhatStraddlesACutToTheNearerSide) {
  EXPECT_EQ(start_of({4, 1, 3, 4}, 2, 1), 2);
  EXPECT_EQ(start_of({4, 3, 1, 4}, 2, 1), 2);
  EXPECT_EQ(start_of({1, 9, 1, 1}, 2, 1), 2);
  EXPECT_EQ(start_of({1, 1, 9, 1}, 2, 1), 2);
}

}  // namespace
}  // namespace spdistal
