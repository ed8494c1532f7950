// Every operator against its set equation, evaluated point by point.
#include <gtest/gtest.h>

#include "partition/random_partitions.hpp"
#include "runtime/partition/by_bounds.hpp"
#include "runtime/partition/by_value_ranges.hpp"
#include "runtime/partition/by_value_set.hpp"
#include "runtime/partition/copy.hpp"
#include "runtime/partition/flatten.hpp"
#include "runtime/partition/image.hpp"
#include "runtime/partition/image_by_value.hpp"
#include "runtime/partition/intersection.hpp"
#include "runtime/partition/preimage.hpp"

namespace spdistal::runtime {
namespace {

using namespace testkit;
constexpr int rounds = 1000;

template <class F>
Space where(int64_t n, F&& holds) {
  Points out;
  for (int64_t x = 0; x < n; x++)
    if (holds(x)) out.insert({x});
  return space_of(1, out);
}

/// The union over the parts of a distributed array of what an operator finds in each.
template <class F>
std::vector<Space> over_parts(Random& random, const Partition& p, int64_t n, F&& in_part) {
  std::vector<Space> out(static_cast<size_t>(p.colours()), Space(1));
  for (Range part : random_cuts(random, n, pick(random, 1, 4))) {
    Partition found = in_part(part);
    for (int64_t c = 0; c < p.colours(); c++) out[size_t(c)] = out[size_t(c)] | found[c];
  }
  return out;
}

TEST(Partitions, AreDisjointAndCompleteExactlyWhereTheirPointsAre) {
  Random random(11);
  int disjoint = 0, complete = 0;
  for (int round = 0; round < 2 * rounds; round++) {
    int dims = int(pick(random, 0, 3));
    ColourGrid grid = random_grid(random);
    Partition p = random_partition(random, grid, dims, pick(random, 1, 3));
    size_t sum = 0;
    Points all;
    for (int64_t c = 0; c < p.colours(); c++) {
      Points piece = points_of(p[c]);
      sum += piece.size();
      all.insert(piece.begin(), piece.end());
    }
    ASSERT_EQ(p.disjoint(), sum == all.size());
    ASSERT_EQ(p.complete(), all == points_of(p.universe()));
    disjoint += p.disjoint(), complete += p.complete();
  }
  EXPECT_GT(disjoint, 20);
  EXPECT_GT(complete, 20);
}

TEST(Partitions, OfAGridCountColoursRowMajor) {
  ColourGrid grid({2, 3, 4});
  for (int64_t c = 0; c < 24; c++) EXPECT_EQ(grid.colour_at(grid.point_of(c)), c);
  EXPECT_EQ(grid.point_of(23), (std::vector<int64_t>{1, 2, 3}));
  EXPECT_EQ(ColourGrid({}).count(), 1);
}

TEST(ByBounds, GivesEachColourWhatIsWithinItsBounds) {
  Random random(12);
  for (int round = 0; round < rounds; round++) {
    int dims = int(pick(random, 1, 3));
    ColourGrid grid = random_grid(random);
    Space universe = random_space(random, dims, 5, 4);
    std::vector<Rect> bounds;
    for (int64_t c = 0; c < grid.count(); c++) {
      auto some = random_rects(random, dims, 6, 1);
      bounds.push_back(some.empty() ? Rect::nothing(dims) : some[0]);
    }
    Partition p = by_bounds(grid, universe, bounds);
    for (int64_t c = 0; c < grid.count(); c++) {
      Points expected;
      for (const Point& x : points_of(universe))
        if (bounds[size_t(c)].contains(x)) expected.insert(x);
      ASSERT_EQ(p[c], space_of(dims, expected));
    }
  }
}

template <class I>
void check_value_operators(uint64_t seed) {
  Random random(seed);
  for (int round = 0; round < rounds; round++) {
    int64_t coordinates = pick(random, 0, 12);
    RandomLevel level(random, pick(random, 0, 8), coordinates);
    ColourGrid grid = random_grid(random);
    Space positions = Space::interval(0, level.positions()), values = Space::interval(0, coordinates);

    std::vector<Range> ranges;
    for (int64_t c = 0; c < grid.count(); c++) ranges.push_back({pick(random, 0, 12), pick(random, 0, 12)});
    Partition any = random_partition(random, grid, 1, 12);
    auto by_range = over_parts(random, any, level.positions(), [&](Range part) {
      return by_value_ranges(grid, positions, ranges, CrdPart<I>(level.crd, part).local());
    });
    auto by_set = over_parts(random, any, level.positions(), [&](Range part) {
      return by_value_set(any, positions, CrdPart<I>(level.crd, part).local());
    });
    Partition some = copy(any, positions);
    auto occurring = over_parts(random, some, level.positions(), [&](Range part) {
      return image_by_value(some, values, CrdPart<I>(level.crd, part).local());
    });
    for (int64_t c = 0; c < grid.count(); c++) {
      auto at = [&](int64_t p) { return level.crd[size_t(p)]; };
      ASSERT_EQ(by_range[size_t(c)],
                where(level.positions(), [&](int64_t p) { return ranges[size_t(c)].contains(at(p)); }));
      ASSERT_EQ(by_set[size_t(c)], where(level.positions(), [&](int64_t p) { return any[c].contains(at(p)); }));
      Points expected;
      for (const Point& p : points_of(some[c])) expected.insert({at(p[0])});
      ASSERT_EQ(occurring[size_t(c)], space_of(1, expected));
    }
  }
}
TEST(ValueOperators, AgreeWithTheirDefinitionsOn32BitIndices) { check_value_operators<int32_t>(14); }
TEST(ValueOperators, AgreeWithTheirDefinitionsOn64BitIndices) { check_value_operators<int64_t>(15); }

// Far more positions than a thread takes in one turn, and sets that end anywhere in words and turns.
TEST(ValueOperators, FindTheSameCoordinatesInArraysThatThreadsShare) {
  Random random(16);
  for (int64_t dim : {70000, 200001, 3000000}) {
    std::vector<int32_t> crd;
    for (int64_t p = 0; p < 300000; p++) crd.push_back(int32_t(p % 3 == 0 ? pick(random, 0, dim - 1) : p % dim));
    Space positions = Space::from_intervals({{7, 8}, {50, 200000}, {200001, 299999}});
    std::vector<bool> occurs(size_t(dim), false);
    for (const Range& part : positions.sides())
      for (int64_t p = part.lo; p < part.hi; p++) occurs[size_t(crd[size_t(p)])] = true;
    EXPECT_EQ(image_by_value(positions, LocalCrd<int32_t>{crd, 0}),
              where(dim, [&](int64_t x) { return occurs[size_t(x)]; }));
  }
}

TEST(ValueOperators, FindCoordinatesFarApartWithoutAnArrayBetween) {
  int64_t far = int64_t(1) << 60;
  std::vector<int64_t> crd{far, 3, far + 1, 3, 0};
  LocalCrd<int64_t> local{crd, 100};
  EXPECT_EQ(image_by_value(Space::interval(0, 1000), local), Space::from_intervals({{0, 1}, {3, 4}, {far, far + 2}}));
  Partition q(ColourGrid({1}), Space::interval(0, 2 * far), {Space::from_intervals({{0, 2}, {far, far + 1}})});
  EXPECT_EQ(by_value_set(q, Space::interval(0, 1000), local)[0], Space::from_intervals({{100, 101}, {104, 105}}));
}

template <class I>
void check_pos_operators(uint64_t seed) {
  Random random(seed);
  for (int round = 0; round < rounds; round++) {
    RandomLevel level(random, pick(random, 0, 9), 5);
    ColourGrid grid = random_grid(random);
    Space positions = Space::interval(0, level.positions()), parents = Space::interval(0, level.parents());
    Partition up = copy(random_partition(random, grid, 1, 9), parents);
    Partition down = copy(random_partition(random, grid, 1, 15), positions);
    auto images = over_parts(random, up, level.parents(),
                             [&](Range part) { return image(up, positions, PosPart<I>(level.pos, part).local()); });
    auto preimages = over_parts(random, down, level.parents(), [&](Range part) {
      return preimage(down, parents, PosPart<I>(level.pos, part).local());
    });
    for (int64_t c = 0; c < grid.count(); c++) {
      auto child = [&](int64_t p, int64_t q) { return level.pos[size_t(p)] <= q && q < level.pos[size_t(p) + 1]; };
      ASSERT_EQ(images[size_t(c)], where(level.positions(), [&](int64_t q) {
                  for (const Point& p : points_of(up[c]))
                    if (child(p[0], q)) return true;
                  return false;
                }));
      auto meets = [&](int64_t p, Range interval) {
        for (int64_t q = interval.lo; q < interval.hi; q++)
          if (child(p, q)) return true;
        return false;
      };
      Space exact(1);
      for (const Range& interval : down[c].sides())
        exact = exact | where(level.parents(), [&](int64_t p) { return meets(p, interval); });
      ASSERT_EQ(preimages[size_t(c)], exact);
    }
  }
}
TEST(ImageAndPreimage, AgreeWithTheirDefinitionsOn32BitIndices) { check_pos_operators<int32_t>(16); }
TEST(ImageAndPreimage, AgreeWithTheirDefinitionsOn64BitIndices) { check_pos_operators<int64_t>(17); }

TEST(ImageAndPreimage, WorkWhereThePiecesPositionsAreBeyond32Bits) {
  int64_t far = int64_t(1) << 40;
  std::vector<int32_t> entries{0, 2, 2, 5};
  LocalPos<int32_t> pos{entries, 10, far};
  EXPECT_EQ(image(Space::interval(11, 13), pos), Space::interval(far + 2, far + 5));
  EXPECT_EQ(preimage(Space::interval(far + 1, far + 3), pos), Space::from_intervals({{10, 11}, {12, 13}}));
}

TEST(Flattening, AgreesWithRowMajorNumbers) {
  Random random(19);
  for (int round = 0; round < rounds; round++) {
    int dims = int(pick(random, 1, 3));
    Partition p = random_partition(random, random_grid(random), dims, 4);
    Rect box = Rect(p.universe().bounding());
    Partition flat = flatten(p, box);
    int64_t extent = pick(random, 1, 4);
    Partition line = random_partition(random, p.grid(), 1, 9);
    Partition wide = expand(line, extent), narrow = contract(line, extent);
    for (int64_t c = 0; c < p.colours(); c++) {
      Points expected, expanded, contracted;
      for (const Point& x : points_of(p[c])) {
        int64_t number = 0;
        for (int64_t coordinate : x) number = number * 4 + coordinate;
        expected.insert({number});
      }
      for (const Point& x : points_of(line[c])) {
        for (int64_t k = 0; k < extent; k++) expanded.insert({x[0] * extent + k});
        contracted.insert({x[0] / extent});
      }
      ASSERT_EQ(flat[c], space_of(1, expected));
      ASSERT_EQ(wide[c], space_of(1, expanded));
      ASSERT_EQ(narrow[c], space_of(1, contracted));
    }
  }
}

TEST(Flattening, RefusesNumbersBeyond63Bits) {
  int64_t big = int64_t(1) << 40;
  Partition p(ColourGrid({1}), Space(Rect{{0, big}, {0, big}}), {Space(Rect{{0, 1}, {0, 1}})});
  EXPECT_THROW(flatten(p, Rect{{0, big}, {0, big}}), InternalError);
  EXPECT_THROW(expand(Space::interval(0, big), big), InternalError);
}

TEST(Intersection, IsThatOfThePiecesOfEachColour) {
  Random random(20);
  for (int round = 0; round < rounds; round++) {
    ColourGrid grid = random_grid(random);
    int dims = int(pick(random, 1, 3));
    Partition p = random_partition(random, grid, dims, 4), q = random_partition(random, grid, dims, 4);
    Partition both = intersection(p, q);
    for (int64_t c = 0; c < grid.count(); c++) {
      Points a = points_of(p[c]), b = points_of(q[c]), in_both;
      for (const Point& x : a)
        if (b.count(x)) in_both.insert(x);
      ASSERT_EQ(both[c], space_of(dims, in_both));
    }
  }
}

}  // namespace
}  // namespace spdistal::runtime
