// Distributed partitions against the same partition known whole.
#include "runtime/partition/match.hpp"

#include <gtest/gtest.h>

#include <map>

#include "mpi/cases.hpp"
#include "runtime/partition/by_value_ranges.hpp"
#include "runtime/partition/by_value_set.hpp"
#include "runtime/partition/copy.hpp"
#include "runtime/partition/image.hpp"
#include "runtime/partition/image_by_value.hpp"
#include "runtime/partition/preimage.hpp"

namespace spdistal::runtime {
namespace {

using namespace testkit;

TEST(Matches, GiveEveryNeededElementFromItsOwner) {
  on_ranks([](Transport& t) {
    for_each_case(t, "owners", cases(150, 100), [&](Random& random) {
      int dims = int(pick(random, 0, 3));
      int64_t extent = dims == 1 ? 20 : 4;
      Partition held = random_partition(random, random_grid(random), dims, extent);
      Partition any = random_partition(random, random_grid(random), dims, extent);
      Partition needed = copy(any, held.all());
      std::map<Point, int64_t> owner;
      for (int64_t c = held.colours() - 1; c >= 0; c--)
        for (const Point& x : points_of(held[c])) owner[x] = c;
      std::map<std::pair<int64_t, int64_t>, Points> expected;
      Range sources = colours_here(t, held.colours()), users = colours_here(t, needed.colours());
      for (int64_t d = 0; d < needed.colours(); d++)
        for (const Point& x : points_of(needed[d]))
          if (sources.contains(owner[x]) || users.contains(d)) expected[{owner[x], d}].insert(x);
      std::vector<Match> found = match(t, mine(t, held), mine(t, needed), Sources::Owners);
      ASSERT_EQ(found.size(), expected.size());
      auto next = expected.begin();
      for (const Match& m : found) {
        ASSERT_EQ(std::pair(m.source, m.user), next->first);
        ASSERT_EQ(m.elements, space_of(dims, next->second));
        ++next;
      }
    });
  });
}

TEST(Matches, PreferACopyOnTheSameRankWhereAnyWillDo) {
  on_ranks([](Transport& t) {
    for_each_case(t, "any local", cases(100, 50), [&](Random& random) {
      Partition held = random_partition(random, random_grid(random), 1, 20);
      Partition needed = copy(random_partition(random, random_grid(random), 1, 20), held.all());
      Range sources = colours_here(t, held.colours()), users = colours_here(t, needed.colours());
      std::vector<Space> got(static_cast<size_t>(users.size()), Space(1));
      Space local = mine(t, held).all();
      for (const Match& m : match(t, mine(t, held), mine(t, needed), Sources::AnyLocal)) {
        if (!users.contains(m.user)) continue;
        Space& so_far = got[size_t(m.user - users.lo)];
        ASSERT_FALSE(intersects(so_far, m.elements)) << "an element comes twice";
        if (!sources.contains(m.source)) { ASSERT_FALSE(intersects(m.elements, local)) << "fetched what is here"; }
        so_far = so_far | m.elements;
      }
      for (int64_t d = users.lo; d < users.hi; d++) ASSERT_EQ(got[size_t(d - users.lo)], needed[d]);
    });
  });
}

TEST(Matches, FindEveryHolderWhereThatIsAsked) {
  on_ranks([](Transport& t) {
    for_each_case(t, "everyone", cases(100, 50), [&](Random& random) {
      int dims = int(pick(random, 0, 2));
      Partition held = random_partition(random, random_grid(random), dims, 8);
      Partition needed = random_partition(random, random_grid(random), dims, 8);
      Range sources = colours_here(t, held.colours()), users = colours_here(t, needed.colours());
      std::vector<Match> expected;
      for (int64_t c = 0; c < held.colours(); c++)
        for (int64_t d = 0; d < needed.colours(); d++)
          if (Space both = held[c] & needed[d]; !both.empty() && (sources.contains(c) || users.contains(d)))
            expected.push_back({c, d, both});
      ASSERT_EQ(match(t, mine(t, held), mine(t, needed), Sources::Everyone, Unheld::Skip), expected);
    });
  });
}

TEST(Matches, RefuseOnAllRanksWhatIsHeldNowhere) {
  on_ranks([](Transport& t) {
    ColourGrid grid({4});
    Partition held = by_blocks(grid, Rect{{0, 10}}, std::vector<int>{0});
    std::vector<Space> wanted(4, Space(1));
    wanted[1] = Space::interval(8, 12);
    Partition needed(grid, Space::interval(0, 20), wanted);
    EXPECT_THROW(match(t, mine(t, held), mine(t, needed), Sources::Owners), InternalError);
    EXPECT_EQ(t.allreduce(int64_t(1), ReduceOp::Sum), t.size()) << "the ranks are out of step";
  });
}

}  // namespace
}  // namespace spdistal::runtime
