// Exchanges with random regions, to and fro, against what a single array would hold.
#include "runtime/region/exchange.hpp"

#include <gtest/gtest.h>

#include <complex>
#include <map>

#include "mpi/allocations.hpp"
#include "mpi/cases.hpp"
#include "mpi/exchanges.hpp"
#include "runtime/partition/copy.hpp"
#include "runtime/partition/image_by_value.hpp"
#include "runtime/region/staging.hpp"

namespace spdistal::runtime {
namespace {

using namespace testkit;

/// A value for each element that no other element has, as far as the type can tell.
template <class T>
T value_at(std::span<const int64_t> point, int64_t salt) {
  int64_t number = salt;
  for (int64_t x : point) number = number * 31 + x + 1;
  if constexpr (std::is_same_v<T, bool>) return number % 2 == 0;
  else if constexpr (std::is_arithmetic_v<T>) return T(number);
  else return T(typename T::value_type(number), typename T::value_type(-number));
}

template <class T>
void fill(const Region& region, int64_t salt) {
  for (int64_t c = region.colours().lo; c < region.colours().hi; c++)
    for_each_point(region.held()[c], [&](std::span<const int64_t> at) { region[c].at<T>(at) = value_at<T>(at, salt); });
}

template <class T>
void expect_values(const Instance& instance, const Space& set, int64_t salt) {
  for_each_point(set, [&](std::span<const int64_t> at) { EXPECT_EQ(instance.at<T>(at), value_at<T>(at, salt)); });
}

LayoutKind random_layout(Random& random) {
  return std::vector{LayoutKind::Compact, LayoutKind::Box, LayoutKind::HardlyLarger}[size_t(pick(random, 0, 2))];
}

struct Shape {
  int dims;
  int64_t extent;
  explicit Shape(Random& random) : dims(int(pick(random, 0, 3))), extent(dims <= 1 ? 25 : dims == 2 ? 6 : 4) {}
};

template <class T>
void check_fetch(Transport& t, Random& random) {
  Shape shape(random);
  Partition held = random_partition(random, random_grid(random), shape.dims, shape.extent);
  Partition needed = copy(random_partition(random, random_grid(random), shape.dims, shape.extent), held.all());
  Traffic traffic;
  Region region(t, "B", scalar_type_of<T>(), held, random_layout(random));
  Fetched fetched(t, region, mine(t, needed), {random_layout(random), &traffic});
  Range here = colours_here(t, needed.colours());
  for (int64_t salt = 1; salt <= 3; salt++) {
    fill<T>(region, salt);
    fetched.exchange().run();
    for (int64_t c = here.lo; c < here.hi; c++) expect_values<T>(fetched[c], needed[c], salt);
    for (int64_t c = region.colours().lo; c < region.colours().hi; c++) expect_values<T>(region[c], held[c], salt);
  }
  // What comes from elsewhere is what is not here.
  int64_t elsewhere = 0;
  for (int64_t c = here.lo; c < here.hi; c++) elsewhere += (needed[c] - region.held().all()).size();
  EXPECT_EQ(fetched.exchange().bytes_received(), elsewhere * int64_t(sizeof(T)));
}

template <class T>
void check_reduction(Transport& t, Random& random) {
  Shape shape(random);
  Partition held = random_partition(random, random_grid(random), shape.dims, shape.extent);
  Partition computed = copy(random_partition(random, random_grid(random), shape.dims, shape.extent), held.all());
  Region region(t, "a", scalar_type_of<T>(), held, random_layout(random));
  Delivered back(t, region, mine(t, computed), Arrival::Add, {random_layout(random)});
  for (int64_t salt = 1; salt <= 2; salt++) {
    fill<T>(region, salt);
    for (int64_t c = back.instances().colours().lo; c < back.instances().colours().hi; c++)
      for_each_point(computed[c],
                     [&](std::span<const int64_t> at) { back[c].at<T>(at) = value_at<T>(at, 100 * salt + c); });
    back.run();
    // The old value, then that of colour 0, 1, …: exactly this order.
    std::map<Point, T> expected;
    for (const Point& at : points_of(held.all())) {
      T sum = value_at<T>(at, salt);
      for (int64_t c = 0; c < computed.colours(); c++)
        if (computed[c].contains(at)) {
          T one = value_at<T>(at, 100 * salt + c);
          if constexpr (std::is_same_v<T, bool>) sum = sum || one;
          else sum = sum + one;
        }
      expected[at] = sum;
    }
    for (int64_t c = region.colours().lo; c < region.colours().hi; c++)
      for (const Point& at : points_of(held[c])) EXPECT_EQ(region[c].at<T>(at), expected[at]);
  }
}

template <class T>
void check_assignment(Transport& t, Random& random) {
  Shape shape(random);
  Partition held = random_partition(random, random_grid(random), shape.dims, shape.extent);
  Partition any = random_partition(random, random_grid(random), shape.dims, shape.extent);
  std::vector<Space> disjoint;
  Space taken(shape.dims), all = held.all();
  for (int64_t c = 0; c < any.colours(); c++) {
    disjoint.push_back((any[c] & all) - taken);
    taken = taken | any[c];
  }
  Partition computed(any.grid(), any.universe(), disjoint);
  Region region(t, "a", scalar_type_of<T>(), held, random_layout(random));
  Delivered back(t, region, mine(t, computed), Arrival::Assign, {random_layout(random)});
  fill<T>(region, 1);
  for (int64_t c = back.instances().colours().lo; c < back.instances().colours().hi; c++)
    for_each_point(computed[c], [&](std::span<const int64_t> at) { back[c].at<T>(at) = value_at<T>(at, 2); });
  back.run();
  for (int64_t c = region.colours().lo; c < region.colours().hi; c++) {
    expect_values<T>(region[c], held[c] & computed.all(), 2);
    expect_values<T>(region[c], held[c] - computed.all(), 1);
  }
}

/// Calls the check with one of the element types.
template <class F>
void for_a_type(Random& random, F&& check) {
  with_type(all_scalar_types[pick(random, 0, 6)], [&](auto zero) { check.template operator()<decltype(zero)>(); });
}

TEST(Exchanges, BringsEveryNeededElementWhereverItIsHeld) {
  on_ranks([](Transport& t) {
    for_each_case(t, "fetch", cases(800, 400),
                  [&](Random& random) { for_a_type(random, [&]<class T>() { check_fetch<T>(t, random); }); });
  });
}

TEST(Exchanges, BringsLargeMessagesInParts) {
  on_ranks_cutting(16, [](Transport& t) {
    for_each_case(t, "fetch in parts", cases(100, 50), [&](Random& random) { check_fetch<double>(t, random); });
  });
}

// Of messages of random partitions most are longer than this.
class InParts {
 public:
  InParts() { set_staging({32, 16}); }
  ~InParts() { set_staging(usual_); }

 private:
  Staging usual_ = staging();
};

TEST(Exchanges, SendLongMessagesInPartsThroughMemoryForAFew) {
  InParts in_parts;
  on_ranks([](Transport& t) {
    for_each_case(t, "through little memory", cases(300, 150), [&](Random& random) {
      for_a_type(random, [&]<class T>() {
        check_fetch<T>(t, random);
        check_reduction<T>(t, random);
        check_assignment<T>(t, random);
      });
    });
  });
}

TEST(Reduction, AddsOldValueAndContributionsInColourOrderAndRefreshesReplicas) {
  on_ranks([](Transport& t) {
    for_each_case(t, "reduction", cases(600, 300),
                  [&](Random& random) { for_a_type(random, [&]<class T>() { check_reduction<T>(t, random); }); });
  });
}

TEST(Assignment, ReachesEveryCopyAndLeavesTheRest) {
  on_ranks([](Transport& t) {
    for_each_case(t, "assignment", cases(600, 300),
                  [&](Random& random) { for_a_type(random, [&]<class T>() { check_assignment<T>(t, random); }); });
  });
}

TEST(Reduction, GivesTheSameBitsEveryTime) {
  on_ranks([](Transport& t) {
    // Floats whose sum depends on the order.
    ColourGrid grid({7});
    Partition all(grid, Space::interval(0, 50), std::vector<Space>(7, Space::interval(0, 50)));
    Region region(t, "s", ScalarType::Float32, by_blocks(grid, Rect{{0, 50}}, std::vector<int>{0}));
    Delivered back(t, region, mine(t, all), Arrival::Add);
    auto contribution = [](int64_t c, int64_t x) { return float(x + 1) * (c % 2 ? 1e-3f : 1e4f) / float(c + 3); };
    for (int round = 0; round < 5; round++) {
      region.zero();
      for (int64_t c = back.instances().colours().lo; c < back.instances().colours().hi; c++)
        for (int64_t x = 0; x < 50; x++) back[c].at<float>(x) = contribution(c, x);
      back.run();
      for (int64_t c = region.colours().lo; c < region.colours().hi; c++)
        for_each_point(region.held()[c], [&](std::span<const int64_t> at) {
          float expected = 0;
          for (int64_t d = 0; d < 7; d++) expected += contribution(d, at[0]);
          EXPECT_EQ(region[c].at<float>(at), expected);
        });
    }
  });
}

void check_overlap() {
  on_ranks([](Transport& t) {
    ColourGrid grid({5});
    Partition held = by_blocks(grid, Rect{{0, 40}}, std::vector<int>{0});
    std::vector<std::unique_ptr<Region>> regions;
    std::vector<std::unique_ptr<Fetched>> fetches;
    Random random(7);
    std::vector<Partition> needs;
    for (int64_t k = 0; k < 6; k++) {
      needs.push_back(random_partition(random, grid, 1, 40));
      regions.push_back(std::make_unique<Region>(t, "r", ScalarType::Int64, held));
      fetches.push_back(std::make_unique<Fetched>(t, *regions.back(), mine(t, needs.back())));
      fill<int64_t>(*regions.back(), k);
    }
    for (auto& fetch : fetches) fetch->exchange().start();
    while (!std::ranges::all_of(fetches, [](auto& fetch) { return fetch->exchange().poll(); })) {}
    for (size_t k = fetches.size(); k-- > 0;) fetches[k]->exchange().finish();
    for (size_t k = 0; k < fetches.size(); k++)
      for (int64_t c = colours_here(t, 5).lo; c < colours_here(t, 5).hi; c++)
        expect_values<int64_t>((*fetches[k])[c], needs[k][c], int64_t(k));
  });
}

TEST(Exchanges, OverlapInAnyNumber) { check_overlap(); }
TEST(Exchanges, OverlapInAnyNumberInParts) {
  InParts in_parts;
  check_overlap();
}

TEST(Exchanges, ReplicationIsOneCollectiveAndNothingComesTwice) {
  on_ranks([](Transport& t) {
    ColourGrid grid({t.size()});
    Partition held = by_blocks(grid, Rect{{0, 101}}, std::vector<int>{0});
    Partition everywhere(grid, held.universe(), std::vector<Space>(size_t(t.size()), held.universe()));
    Region region(t, "c", ScalarType::Float64, held);
    Fetched fetched(t, region, mine(t, everywhere));
    EXPECT_EQ(fetched.exchange().is_collective(), t.size() > 2);
    fill<double>(region, 3);
    fetched.exchange().run();
    expect_values<double>(fetched[t.rank()], held.universe(), 3);
    EXPECT_EQ(fetched.exchange().bytes_received(), (101 - region.held().all().size()) * 8);
  });
}

TEST(Exchanges, ReplicationInAnyOrderOfPiecesAndWithHolesIsRight) {
  on_ranks([](Transport& t) {
    for_each_case(t, "replicate", cases(60, 60), [&](Random& random) {
      int64_t colours = t.size() * pick(random, 1, 2), n = pick(random, 1, 40);
      ColourGrid grid({colours});
      Partition blocks = by_blocks(grid, Rect{{0, n}}, std::vector<int>{0});
      // In order, the other way round, or with every third element held by nobody.
      int64_t kind = pick(random, 0, 2);
      std::vector<Space> pieces;
      Space kept(1);
      for (int64_t x = 0; x < n; x++)
        if (kind < 2 || x % 3) kept = kept | Space::interval(x, x + 1);
      for (int64_t c = 0; c < colours; c++) pieces.push_back(blocks[kind == 1 ? colours - 1 - c : c] & kept);
      Partition held(grid, kept, pieces), everywhere(grid, kept, std::vector<Space>(size_t(colours), kept));
      Region region(t, "c", ScalarType::Int32, held, random_layout(random));
      Fetched fetched(t, region, mine(t, everywhere), {random_layout(random)});
      for (int64_t salt = 1; salt <= 2; salt++) {
        fill<int32_t>(region, salt);
        fetched.exchange().run();
        for (const Instance& piece : fetched.instances()) expect_values<int32_t>(piece, kept, salt);
      }
    });
  });
}

TEST(Exchanges, TrafficIsCountedByPairOfColours) {
  on_ranks([](Transport& t) {
    ColourGrid grid({4});
    Partition held = by_blocks(grid, Rect{{0, 16}}, std::vector<int>{0});
    // Each colour needs the last element before its block.
    std::vector<Space> before;
    for (int64_t c = 0; c < 4; c++) before.push_back(Space::interval(std::max<int64_t>(4 * c - 1, 0), 4 * c));
    Traffic traffic;
    Region region(t, "x", ScalarType::Float64, held);
    Fetched fetched(t, region, mine(t, Partition(grid, held.universe(), before)), {.traffic = &traffic});
    fetched.exchange().run();
    Mapping mapping(4, t.size());
    int64_t pairs_here = 0;
    for (int64_t c = 0; c < 3; c++) pairs_here += mapping.rank_of(c) == t.rank() || mapping.rank_of(c + 1) == t.rank();
    auto counted = traffic.regions().find("x");
    ASSERT_EQ(counted == traffic.regions().end() ? 0 : int64_t(counted->second.size()), pairs_here);
    if (pairs_here == 0) return;
    for (const auto& [pair, count] : counted->second) {
      EXPECT_EQ(pair.first + 1, pair.second);
      bool remote = mapping.rank_of(pair.first) != mapping.rank_of(pair.second);
      EXPECT_EQ(count, remote ? (Count{.bytes = 8, .messages = 1}) : (Count{.copied = 8}));
    }
  });
}

TEST(Exchanges, BringForSpMVTheDistinctColumnsThatAreNotHere) {
  on_ranks([](Transport& t) {
    for_each_case(t, "ghosts", cases(200, 100), [&](Random& random) {
      int64_t n = pick(random, 1, 60), pieces = pick(random, 1, 6);
      RandomLevel level(random, n, n);
      ColourGrid grid({pieces});
      Partition rows = by_blocks(grid, Rect{{0, n}}, std::vector<int>{0});
      Region c(t, "c", ScalarType::Float64, rows);
      fill<double>(c, 5);
      Range here = colours_here(t, pieces);
      // The columns that the rows of each piece name.
      std::vector<Space> columns;
      for (int64_t p = here.lo; p < here.hi; p++) {
        Range part{rows[p].empty() ? 0 : level.pos[size_t(rows[p].bounding()[0].lo)],
                   rows[p].empty() ? 0 : level.pos[size_t(rows[p].bounding()[0].hi)]};
        CrdPart<int32_t> crd(level.crd, part);
        columns.push_back(image_by_value(Space::interval(part.lo, part.hi), crd.local()));
      }
      Partition needed(grid, Space::interval(0, n), here, columns);
      Fetched fetched(t, c, needed);
      fetched.exchange().run();
      int64_t ghosts = 0;
      for (int64_t p = here.lo; p < here.hi; p++) {
        expect_values<double>(fetched[p], needed[p], 5);
        for (const Point& x : points_of(needed[p])) ghosts += !c.held().all().contains(x);
      }
      EXPECT_EQ(fetched.exchange().bytes_received(), ghosts * 8);
    });
  });
}

TEST(Exchanges, GoOnWithOtherMemoryOfTheSameLayout) {
  on_ranks([](Transport& t) {
    ColourGrid grid({3});
    Partition held = by_blocks(grid, Rect{{0, 9}}, std::vector<int>{0});
    std::vector<Space> shifted;
    for (int64_t c = 0; c < 3; c++) shifted.push_back(held[(c + 1) % 3]);
    Partition needed(grid, held.universe(), shifted);
    Region region(t, "x", ScalarType::Int64, held);
    Mapping ranks(3, t.size());
    Instances first(region.colours()), second(region.colours());
    for (int64_t c = region.colours().lo; c < region.colours().hi; c++) {
      first.add(Instance(ScalarType::Int64, Layout::compact(needed[c])));
      second.add(Instance(ScalarType::Int64, first[c].shared_layout()));
    }
    Exchange exchange(t, match(t, region.held(), mine(t, needed), Sources::Owners), ranks, ranks, region.instances(),
                      first, {});
    fill<int64_t>(region, 1);
    exchange.run();
    exchange.rebind(region.instances(), second);
    fill<int64_t>(region, 2);
    exchange.run();
    for (int64_t c = region.colours().lo; c < region.colours().hi; c++) {
      expect_values<int64_t>(first[c], needed[c], 1);
      expect_values<int64_t>(second[c], needed[c], 2);
    }
  });
}

void check_allocations() {
  on_ranks([](Transport& t) {
    if (!counts_allocations(t)) return;
    Random random(3);
    Partition held = random_partition(random, ColourGrid({6}), 1, 200);
    Partition needed = copy(random_partition(random, ColourGrid({5}), 1, 200), held.all());
    Traffic traffic;
    Region region(t, "x", ScalarType::Float64, held);
    Fetched fetched(t, region, mine(t, needed), {.traffic = &traffic});
    Delivered back(t, region, mine(t, needed), Arrival::Add, {.traffic = &traffic});
    auto both = [&] {
      fetched.exchange().run();
      back.run();
    };
    for (int warm = 0; warm < 3; warm++) both();
    int64_t before = allocations();
    for (int round = 0; round < 10; round++) both();
    EXPECT_EQ(allocations(), before);
  });
}

TEST(Exchanges, AllocateNothingWhenRepeated) { check_allocations(); }
TEST(Exchanges, AllocateNothingWhenRepeatedInParts) {
  InParts in_parts;
  check_allocations();
}

TEST(Planning, FailsOnAllRanksWhereOneCannotHoldItsPiece) {
  on_ranks([](Transport& t) {
    // The last colour's piece is larger than any memory; its bytes do not even fit a number.
    int64_t huge = int64_t(1) << 61;
    ColourGrid grid({t.size()});
    std::vector<Space> pieces(size_t(t.size()), Space::interval(0, 4));
    Partition held(grid, Space::interval(0, huge), pieces);
    Region region(t, "x", ScalarType::Complex128, held);
    pieces.back() = Space::interval(0, huge);
    Partition needed(grid, Space::interval(0, huge), pieces);
    EXPECT_THROW(Fetched(t, region, mine(t, needed)), SystemError);
    EXPECT_EQ(t.allreduce(int64_t(1), ReduceOp::Sum), t.size()) << "the ranks are out of step";
  });
}

}  // namespace
}  // namespace spdistal::runtime
