#include "runtime/space/space.hpp"

#include <gtest/gtest.h>

#include "base/require.hpp"
#include "partition/random_sets.hpp"

namespace spdistal::runtime {
namespace {

using namespace testkit;

Points combine(const Points& a, const Points& b, auto&& keeps) {
  Points all = a, out;
  all.insert(b.begin(), b.end());
  for (const Point& p : all)
    if (keeps(a.count(p) > 0, b.count(p) > 0)) out.insert(p);
  return out;
}

TEST(Space, OperationsAgreeWithSetsOfPointsAndGiveTheCanonicalForm) {
  Random random(1);
  for (int round = 0; round < 2000; round++) {
    int dims = int(pick(random, 0, 5));
    int64_t extent = dims <= 1 ? 30 : dims == 2 ? 8 : 3;
    Space a = random_space(random, dims, extent, 5), b = random_space(random, dims, extent, 5);
    Points pa = points_of(a), pb = points_of(b);
    SCOPED_TRACE(to_string(a) + " and " + to_string(b));
    Points both = combine(pa, pb, [](bool x, bool y) { return x && y; });
    ASSERT_EQ(a | b, space_of(dims, combine(pa, pb, [](bool x, bool y) { return x || y; })));
    ASSERT_EQ(a & b, space_of(dims, both));
    ASSERT_EQ(a - b, space_of(dims, combine(pa, pb, [](bool x, bool y) { return x && !y; })));
    ASSERT_EQ(intersects(a, b), !both.empty());
    ASSERT_EQ(contains(a, b), both == pb);
    ASSERT_EQ(a == b, pa == pb);
    ASSERT_EQ(a.size(), int64_t(pa.size()));
    ASSERT_EQ((a - b) | (a & b), a);
  }
}

TEST(Space, MembershipAgreesWithIteration) {
  Random random(2);
  for (int round = 0; round < 200; round++) {
    int dims = int(pick(random, 1, 4));
    Space a = random_space(random, dims, 5, 6);
    Points pa = points_of(a);
    for (const Point& p : all_points(std::vector<int64_t>(size_t(dims), 5))) ASSERT_EQ(a.contains(p), pa.count(p) > 0);
    for (const Point& p : pa) ASSERT_TRUE(a.bounding().contains(p));
  }
}

TEST(Space, StretchAndShrinkAgreeWithTheirDefinitions) {
  Random random(3);
  for (int round = 0; round < 1000; round++) {
    Space set = random_space(random, 1, 40, 6);
    int64_t offset = pick(random, 0, 12), stride = pick(random, 1, 5);
    SCOPED_TRACE(to_string(set));
    Points stretched, shrunk;
    for (const Point& x : points_of(set)) stretched.insert({offset + stride * x[0]});
    for (int64_t x = 0; x < 50; x++)
      if (set.contains(offset + stride * x)) shrunk.insert({x});
    ASSERT_EQ(stretch(set, offset, stride), space_of(1, stretched));
    ASSERT_EQ(shrink(set, offset, stride), space_of(1, shrunk));
  }
}

TEST(Space, OneRectangleMadeInPiecesIsTheSameAsMadeAtOnce) {
  Space whole(Rect{{0, 10}, {0, 10}});
  Space left(Rect{{0, 10}, {0, 4}}), right(Rect{{0, 10}, {4, 10}}), top(Rect{{0, 3}, {0, 10}});
  EXPECT_EQ(left | right, whole);
  EXPECT_EQ((whole - top) | top, whole);
  EXPECT_TRUE((left | right).is_rect());
}

TEST(Space, TheEmptySetIsTheSameHoweverItWasMade) {
  EXPECT_EQ(Space(1), Space::interval(5, 5));
  EXPECT_EQ(Space(1), Space::interval(7, 3));
  EXPECT_EQ(Space(2), Space(Rect{{0, 4}, {2, 2}}));
  EXPECT_EQ(Space::interval(0, 4) - Space::interval(0, 9), Space(1));
  EXPECT_EQ(Space(1).size(), 0);
  EXPECT_NE(Space(1), Space(2));
}

TEST(Space, IndicesBeyond32BitsAndVolumesBeyond63BitsWork) {
  int64_t big = int64_t(1) << 40;
  Space a(Rect{{0, big}, {0, big}}), corner(Rect{{big - 1, big}, {big - 1, big}});
  EXPECT_EQ(a.size_or_max(), INT64_MAX);
  EXPECT_THROW(a.size(), InternalError);
  EXPECT_EQ((a & corner).size(), 1);
  EXPECT_EQ((a - corner) | corner, a);
  EXPECT_FALSE((a - corner).contains(std::vector<int64_t>{big - 1, big - 1}));
  EXPECT_EQ(Space::interval(INT64_MAX - 2, INT64_MAX).size(), 2);
  EXPECT_EQ(Space::interval(INT64_MIN, INT64_MAX).size_or_max(), INT64_MAX);
}

TEST(Space, AMillionIntervalsAreCombinedAndSearched) {
  std::vector<Range> even, odd;
  int64_t n = 1'000'000;
  for (int64_t k = 0; k < n; k++) even.push_back({4 * k, 4 * k + 2}), odd.push_back({4 * k + 2, 4 * k + 4});
  Random random(4);
  std::shuffle(even.begin(), even.end(), random);
  Space a = Space::from_intervals(even), b = Space::from_intervals(odd);
  EXPECT_EQ(a.rect_count(), size_t(n));
  EXPECT_EQ(a.size(), 2 * n);
  EXPECT_EQ(a | b, Space::interval(0, 4 * n));
  EXPECT_TRUE((a & b).empty());
  EXPECT_EQ(a - b, a);
  EXPECT_TRUE(a.contains(4 * 777'777 + 1));
  EXPECT_FALSE(a.contains(4 * 777'777 + 2));
  EXPECT_EQ((a & Space::interval(4001, 4007)).size(), 3);
}

TEST(Space, PrintsItsRectangles) {
  EXPECT_EQ(to_string(Space(1)), "{}");
  EXPECT_EQ(to_string(Space::from_intervals({{7, 8}, {0, 4}})), "{[0, 4), [7, 8)}");
  EXPECT_EQ(to_string(Space(Rect{{0, 2}, {1, 3}})), "{[0, 2) x [1, 3)}");
}

}  // namespace
}  // namespace spdistal::runtime
