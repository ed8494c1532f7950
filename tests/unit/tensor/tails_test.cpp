// Whose the rows behind home pieces are.
#include "tensor/tails.hpp"

#include <gtest/gtest.h>

namespace spdistal {
namespace {

TEST(Tails, GiveEveryoneRowsOfHisOwn) {
  auto tails = std::make_shared<Tails>();
  EXPECT_EQ(tails->find(0, 4), (Range{0, 4}));
  std::optional<Tails::Rows> first = tails->take(0, {0, 4});
  ASSERT_TRUE(first.has_value());
  EXPECT_FALSE(tails->take(0, {3, 5}).has_value()) << "one of them is taken";
  EXPECT_EQ(tails->find(0, 2), (Range{4, 6}));
  EXPECT_EQ(tails->find(1, 2), (Range{0, 2})) << "behind another piece";
}

TEST(Tails, AreFreeAgainWhenTheirOwnerGoes) {
  auto tails = std::make_shared<Tails>();
  std::optional<Tails::Rows> a = tails->take(0, {0, 3}), b = tails->take(0, {3, 5}), c = tails->take(0, {5, 6});
  ASSERT_TRUE(a && b && c);
  b.reset();
  EXPECT_EQ(tails->find(0, 2), (Range{3, 5})) << "where they fit";
  EXPECT_EQ(tails->find(0, 3), (Range{6, 9})) << "behind all, where they do not";
  *a = std::move(*c);
  EXPECT_EQ(tails->find(0, 3), (Range{0, 3})) << "what is replaced is given back";
  EXPECT_FALSE(tails->take(0, {5, 6}).has_value()) << "what was moved is still somebody's";
  a.reset();
  EXPECT_EQ(tails->find(0, 9), (Range{0, 9}));
}

TEST(Tails, InFrontOfAPieceAreWithThoseThatFollowIt) {
  auto tails = std::make_shared<Tails>();
  std::optional<Tails::Rows> around = tails->take(0, {-3, 2});
  ASSERT_TRUE(around.has_value());
  EXPECT_EQ(tails->find(0, 4), (Range{2, 6}));
  EXPECT_FALSE(tails->take(0, {-5, 1}).has_value());
  std::optional<Tails::Rows> behind = tails->take(0, {2, 6});
  around.reset();
  EXPECT_EQ(tails->find(0, 2), (Range{0, 2}));
  EXPECT_TRUE(tails->take(0, {-1, 2}).has_value());
  std::optional<Tails::Rows> front = tails->take(0, {-1, 0});
  EXPECT_EQ(tails->find(0, 2), (Range{0, 2})) << "what is in front takes nothing behind";
}

TEST(Tails, OutliveTheHomesThatTheyBelongTo) {
  auto tails = std::make_shared<Tails>();
  std::optional<Tails::Rows> rows = tails->take(2, {1, 2});
  tails.reset();
  EXPECT_EQ(rows->range(), (Range{1, 2}));
}

}  // namespace
}  // namespace spdistal
