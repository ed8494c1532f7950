// Distributed partitions against the same partition known whole.
#include "runtime/partition/match.hpp"

#include <gtest/gtest.h>

#include <map>

#include "mpi/cases.hpp"
#include "runtime/partition/by_bounds.hpp"
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

TEST(Owners, AreTheLowestColoursThatHoldAnElement) {
  on_ranks([](Transport& t) {
    for_each_case(t, "owned", cases(100, 50), [&](Random& random) {
      int dims = int(pick(random, 0, 3));
      Partition held = random_partition(random, random_grid(random), dims, dims == 1 ? 20 : 4);
      Partition own = owned(t, mine(t, held));
      Space lower(dims);
      for (int64_t c = 0; c < held.colours(); c++) {
        if (own.known().contains(c)) { ASSERT_EQ(own[c], held[c] - lower); }
        lower = lower | held[c];
      }
    });
  });
}

TEST(Facts, OfADistributedPartitionAreThoseOfTheWhole) {
  on_ranks([](Transport& t) {
    for_each_case(t, "facts", cases(200, 100), [&](Random& random) {
      int dims = int(pick(random, 0, 3));
      Partition p = random_partition(random, random_grid(random), dims, pick(random, 1, 3));
      ASSERT_EQ(facts(t, mine(t, p)), (Facts{p.disjoint(), p.complete()}));
    });
  });
}

TEST(Facts, AreRightWherePiecesAreBeyond2To63) {
  on_ranks([](Transport& t) {
    int64_t big = int64_t(1) << 40;
    Partition p = by_blocks(ColourGrid({2, 2}), Rect{{0, big}, {0, big}}, std::vector<int>{0, 1});
    EXPECT_EQ(facts(t, mine(t, p)), (Facts{true, true}));
    std::vector<Space> holed;
    Space hole(Rect{{big - 1, big}, {5, 6}});
    for (int64_t c = 0; c < 4; c++) holed.push_back(p[c] - hole);
    EXPECT_EQ(facts(t, mine(t, Partition(p.grid(), p.universe(), holed))), (Facts{true, false}));
  });
}

TEST(DistributedOperators, GiveWhatTheWholeArraysWould) {
  on_ranks([](Transport& t) {
    for_each_case(t, "operators", cases(150, 100), [&](Random& random) {
      RandomLevel level(random, pick(random, 0, 12), 10);
      Space parents = Space::interval(0, level.parents()), positions = Space::interval(0, level.positions());
      Space coordinates = Space::interval(0, 10);
      ColourGrid grid = random_grid(random);
      Partition up = copy(random_partition(random, grid, 1, 12), parents);
      Partition down = copy(random_partition(random, grid, 1, 20), positions);
      std::vector<Range> ranges;
      for (int64_t c = 0; c < grid.count(); c++) ranges.push_back({pick(random, 0, 9), pick(random, 0, 9)});

      // One piece of the arrays for each rank, cut between parents.
      std::vector<Range> cuts = random_cuts(random, level.parents(), t.size());
      Range here = cuts[size_t(t.rank())];
      PosPart<int32_t> pos(level.pos, here);
      Range below = pos.local().positions();
      CrdPart<int32_t> crd(level.crd, below);
      ColourGrid ranks({t.size()});
      Range me{t.rank(), t.rank() + 1};
      Partition held_parents(ranks, parents, me, {Space::interval(here.lo, here.hi)});
      Partition held_positions(ranks, positions, me, {Space::interval(below.lo, below.hi)});

      PosPart<int64_t> whole_pos(level.pos, {0, level.parents()});
      CrdPart<int64_t> whole_crd(level.crd, {0, level.positions()});
      auto same = [&](const Partition& distributed, const Partition& whole) {
        for (int64_t c = distributed.known().lo; c < distributed.known().hi; c++) ASSERT_EQ(distributed[c], whole[c]);
      };
      same(ask_holders(t, held_parents, mine(t, up), positions,
                       [&](int64_t, const Space& part) { return image(part, pos.local()); }),
           image(up, positions, whole_pos.local()));
      same(ask_holders(t, held_positions, mine(t, down), parents,
                       [&](int64_t, const Space& part) { return preimage(part, pos.local()); }),
           preimage(down, parents, whole_pos.local()));
      same(ask_holders(t, held_positions, mine(t, down), coordinates,
                       [&](int64_t, const Space& part) { return image_by_value(part, crd.local()); }),
           image_by_value(down, coordinates, whole_crd.local()));
      Partition wanted = random_partition(random, grid, 1, 10);
      Partition occurring(ranks, coordinates, me, {image_by_value(positions, crd.local())});
      same(ask_holders(t, occurring, mine(t, wanted), positions,
                       [&](int64_t, const Space& part) {
                         Partition one(ColourGrid({1}), coordinates, {part});
                         return by_value_set(one, positions, crd.local())[0];
                       }),
           by_value_set(wanted, positions, whole_crd.local()));
      same(collect(t, by_value_ranges(grid, positions, ranges, crd.local())),
           by_value_ranges(grid, positions, ranges, whole_crd.local()));
    });
  });
}

}  // namespace
}  // namespace spdistal::runtime
