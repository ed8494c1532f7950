// Memory, layouts and selections on one rank; tests/mpi has what moves between ranks.
#include "runtime/region/region.hpp"

#include <gtest/gtest.h>

#include "memory/buffer.hpp"
#include "partition/random_sets.hpp"
#include "runtime/region/selection.hpp"
#include "runtime/task/mapping.hpp"
#include "runtime/transport/mpi.hpp"
#include "runtime/transport/start.hpp"
#include "runtime/transport/threads.hpp"

namespace spdistal::runtime {
namespace {

using namespace testkit;

TEST(Layout, GivesEveryElementAPlaceOfItsOwn) {
  Random random(41);
  for (int round = 0; round < 500; round++) {
    int dims = int(pick(random, 0, 3));
    Space own = random_space(random, dims, 5, 4), all = own | random_space(random, dims, 5, 4);
    Layout layout = pick(random, 0, 1) ? Layout::compact(own) : Layout::box(own);
    layout = layout.with_tail(all - layout.where(), layout.extent() + pick(random, 0, 3));
    ASSERT_TRUE(contains(layout.where(), all));
    std::set<int64_t> taken;
    for_each_point(all, [&](std::span<const int64_t> at) {
      int64_t place = layout.offset_of(at);
      ASSERT_TRUE(place >= 0 && place < layout.extent());
      ASSERT_TRUE(taken.insert(place).second) << "two elements have one place";
    });
    // Runs name the same places, in the order of the points.
    std::vector<int64_t> places, expected;
    Space some = all & random_space(random, dims, 5, 4);
    layout.for_each_run(some, [&](int64_t offset, int64_t length) {
      for (int64_t k = 0; k < length; k++) places.push_back(offset + k);
    });
    for_each_point(some, [&](std::span<const int64_t> at) { expected.push_back(layout.offset_of(at)); });
    ASSERT_EQ(places, expected);
  }
}

// The number of a coordinate, by definition.
int64_t number_of(const Axis& axis, int64_t x) {
  for (const Axis::Run& run : axis.runs)
    if (run.range.contains(x)) return run.first + (x - run.range.lo);
  return -1;
}

TEST(Layout, OfAGridIsRowMajorByNumbers) {
  Random random(43);
  for (int round = 0; round < 300; round++) {
    int dims = int(pick(random, 1, 3));
    std::vector<Axis> axes;
    std::vector<Space> sides;
    for (int d = 0; d < dims; d++) {
      // Runs come in one order and are numbered in another, with gaps.
      Space coordinates = random_space(random, 1, 12, 4);
      std::vector<Range> runs(coordinates.sides().begin(), coordinates.sides().end());
      std::vector<size_t> order(runs.size());
      for (size_t k = 0; k < order.size(); k++) order[k] = k;
      std::shuffle(order.begin(), order.end(), random);
      Axis axis{std::vector<Axis::Run>(runs.size()), pick(random, 0, 2)};
      for (size_t k : order) {
        axis.runs[k] = {runs[k], axis.size};
        axis.size += runs[k].size() + pick(random, 0, 1);
      }
      axes.push_back(axis);
      sides.push_back(coordinates);
    }
    Layout layout = Layout::grid(axes);
    int64_t extent = 1, points = 1;
    for (const Axis& axis : axes) extent *= axis.size;
    for (const Space& side : sides) points *= side.size();
    ASSERT_EQ(layout.extent(), extent);
    Space all = layout.where();
    ASSERT_EQ(all.size(), points);
    std::vector<int64_t> places, expected;
    Space some = all & random_space(random, dims, 12, 4);
    for_each_point(some, [&](std::span<const int64_t> at) {
      int64_t place = 0;
      for (size_t d = 0; d < at.size(); d++) place = place * axes[d].size + number_of(axes[d], at[d]);
      ASSERT_EQ(layout.offset_of(at), place);
      expected.push_back(place);
    });
    layout.for_each_run(some, [&](int64_t offset, int64_t length) {
      for (int64_t k = 0; k < length; k++) places.push_back(offset + k);
    });
    ASSERT_EQ(places, expected);
  }
}

TEST(Layout, OfARectangleIsRowMajor) {
  Layout layout = Layout::box(Space(Rect{{2, 4}, {10, 13}}));
  EXPECT_TRUE(layout.is_box());
  EXPECT_EQ(layout.offset_of(std::vector<int64_t>{3, 11}), 4);
  EXPECT_THROW(layout.offset_of(std::vector<int64_t>{4, 11}), InternalError);
}

TEST(Layout, TakesTheBoundingBoxOnlyWhereItIsHardlyLarger) {
  EXPECT_EQ(Layout::hardly_larger(Space::from_intervals({{0, 50}, {51, 100}})).extent(), 100);
  EXPECT_EQ(Layout::hardly_larger(Space::from_intervals({{0, 1}, {int64_t(1) << 50, (int64_t(1) << 50) + 1}})).extent(),
            2);
}

TEST(Selection, GathersScattersAndCombinesTheElementsInOrder) {
  Random random(42);
  for (int round = 0; round < 300; round++) {
    Space all = random_space(random, 1, 40, 3), some = all & random_space(random, 1, 40, 20);
    Layout layout = Layout::compact(all);
    Selection selection(layout, some, ScalarType::Float64);
    ASSERT_EQ(selection.count(), some.size());
    std::vector<double> memory(size_t(layout.extent())), packed(size_t(some.size()));
    for (size_t k = 0; k < memory.size(); k++) memory[k] = double(k) + 1;
    auto bytes = [](std::vector<double>& v) { return reinterpret_cast<std::byte*>(v.data()); };
    selection.gather(bytes(memory), bytes(packed));
    size_t next = 0;
    for_each_point(some,
                   [&](std::span<const int64_t> at) { ASSERT_EQ(packed[next++], double(layout.offset_of(at)) + 1); });
    std::vector<double> sums = memory, copy(memory.size());
    std::vector<double> products = memory, least = memory;
    selection.combine(bytes(packed), bytes(sums), ReduceOp::Sum);
    selection.combine(bytes(packed), bytes(products), ReduceOp::Product);
    for (double& value : packed) value -= 1;
    selection.combine(bytes(packed), bytes(least), ReduceOp::Min);
    for (double& value : packed) value += 1;
    selection.scatter(bytes(packed), bytes(copy));
    for_each_point(all, [&](std::span<const int64_t> at) {
      size_t place = size_t(layout.offset_of(at));
      bool chosen = some.contains(at[0]);
      ASSERT_EQ(sums[place], memory[place] * (chosen ? 2 : 1));
      ASSERT_EQ(products[place], memory[place] * (chosen ? memory[place] : 1));
      ASSERT_EQ(least[place], memory[place] - (chosen ? 1 : 0));
      ASSERT_EQ(copy[place], chosen ? memory[place] : 0);
    });
  }
}

TEST(Region, HasAnInstanceOfZerosForEachColour) {
  auto transport = loopback();
  Partition held(ColourGrid({2}), Space::interval(0, 10), {Space::interval(0, 4), Space::interval(3, 10)});
  Region region(*transport, "x", ScalarType::Complex128, held);
  EXPECT_EQ(region[1].at<std::complex<double>>(9), 0.0);
  region[0].at<std::complex<double>>(3) = 5.0;
  EXPECT_EQ(region[1].at<std::complex<double>>(3), 0.0) << "replicas are copies";
  EXPECT_THROW(region[0].values<double>(), InternalError);
}

TEST(Region, OverArraysThatAreThereCopiesNothing) {
  std::vector<double> values{1, 2, 3};
  auto layout = std::make_shared<const Layout>(Layout::compact(Space::interval(7, 10)));
  auto buffer = std::make_shared<Buffer>(Buffer::borrowed(std::as_writable_bytes(std::span(values))));
  Instances instances(Range{0, 1});
  instances.add(Instance(ScalarType::Float64, layout, buffer));
  Partition held(ColourGrid({1}), Space::interval(0, 20), {Space::interval(7, 10)});
  Region region("vals", ScalarType::Float64, held, instances);
  region[0].at<double>(8) = 20;
  EXPECT_EQ(values[1], 20);
}

TEST(Mapping, GivesConsecutiveColoursToRanksAndLeavesTheLastOnesIdle) {
  Mapping many(7, 3), few(2, 4);
  std::vector<int> ranks;
  for (int64_t c = 0; c < 7; c++) ranks.push_back(many.rank_of(c));
  EXPECT_EQ(ranks, (std::vector<int>{0, 0, 0, 1, 1, 1, 2}));
  EXPECT_EQ(many.colours_of(1), (Range{3, 6}));
  EXPECT_EQ(few.colours_of(1), (Range{1, 2}));
  EXPECT_EQ(few.colours_of(3).size(), 0);
}

TEST(Launcher, IsRecognisedByItsVariables) {
  auto none = [](const char*) -> const char* { return nullptr; };
  auto open_mpi = [](const char* name) { return std::string_view(name) == "OMPI_COMM_WORLD_SIZE" ? "2" : nullptr; };
  EXPECT_FALSE(started_by_launcher(none));
  EXPECT_TRUE(started_by_launcher(open_mpi));
  EXPECT_FALSE(mpi_is_running()) << "nothing starts MPI unasked";
}

}  // namespace
}  // namespace spdistal::runtime
