// Numbers for coordinates, against their definition: home first, then the ghosts in order.
#include "execute/move/numbering.hpp"

#include <gtest/gtest.h>

#include <map>
#include <random>

namespace spdistal {
namespace {

using runtime::Space;

template <class I>
IndexArray array_of(const std::vector<int64_t>& values) {
  return IndexArray::make(int64_t(values.size()), IndexWidth(sizeof(I)), [&](auto* out) {
    for (size_t k = 0; k < values.size(); k++) out[k] = std::remove_reference_t<decltype(*out)>(values[k]);
  });
}

std::map<int64_t, int64_t> by_definition(const Numbering& numbering) {
  std::map<int64_t, int64_t> out;
  for (int64_t x = numbering.home.lo; x < numbering.home.hi; x++) out[x] = x - numbering.home.lo;
  int64_t next = numbering.behind;
  for (const Range& run : numbering.ghosts.sides())
    for (int64_t x = run.lo; x < run.hi; x++) out[x] = next++;
  return out;
}

TEST(Numbering, CountsWhatIsAtHomeAndThenTheGhosts) {
  Numbering numbering{{4, 8}, 4, Space::from_intervals({{2, 3}, {9, 10}, {11, 12}})};
  EXPECT_EQ(numbering.places().size(), 7);
  IndexArray numbers = numbering(array_of<int32_t>({11, 4, 2, 7, 9, 2}));
  std::vector<int64_t> found;
  for (int64_t k = 0; k < numbers.size(); k++) found.push_back(numbers[k]);
  EXPECT_EQ(found, (std::vector<int64_t>{6, 0, 4, 3, 5, 4}));
}

TEST(Numbering, IsThatOfItsDefinitionForAnyCoordinates) {
  std::mt19937_64 random{7};
  auto pick = [&](int64_t lo, int64_t hi) { return std::uniform_int_distribution<int64_t>(lo, hi)(random); };
  for (int round = 0; round < 300; round++) {
    // Far apart, there is no table of all that lies between.
    int64_t spread = round % 2 ? 1 : int64_t(1) << 40;
    Range home{pick(0, 30), 0};
    home.hi = home.lo + pick(0, 10);
    std::vector<Range> ghosts;
    for (int64_t n = pick(0, 12); n > 0; n--) {
      int64_t x = pick(0, 60);
      if (home.contains(x)) continue;
      if (x >= home.hi) x = home.hi + (x - home.hi) * spread;
      ghosts.push_back({x, x + 1});
    }
    Numbering numbering{home, home.size() + pick(0, 3), Space::from_intervals(ghosts)};
    std::map<int64_t, int64_t> wanted = by_definition(numbering);
    std::vector<int64_t> coordinates;
    for (int64_t n = wanted.empty() ? 0 : pick(0, 40); n > 0; n--)
      coordinates.push_back(std::next(wanted.begin(), pick(0, int64_t(wanted.size()) - 1))->first);
    IndexArray numbers = numbering(array_of<int64_t>(coordinates));
    ASSERT_EQ(numbers.size(), int64_t(coordinates.size()));
    for (size_t k = 0; k < coordinates.size(); k++) ASSERT_EQ(numbers[int64_t(k)], wanted.at(coordinates[k]));
    if (!coordinates.empty()) { EXPECT_EQ(numbers.width(), IndexWidth::Int32) << "as narrow as numbers are"; }
  }
}

TEST(Numbering, LeavesCoordinatesAsTheyAreWhereGhostsLieAroundTheHome) {
  Numbering numbering{{4, 8}, 4, Space::from_intervals({{2, 4}, {8, 9}}), Range{2, 9}};
  EXPECT_EQ(numbering.places(), (Range{2, 9}));
  runtime::Axis axis = numbering.axis();
  ASSERT_EQ(axis.runs.size(), 1u);
  EXPECT_EQ(axis.runs[0].range, (Range{2, 9}));
  EXPECT_EQ(axis.runs[0].first, 0);
  EXPECT_EQ(axis.size, 7);
  IndexArray coordinates = array_of<int32_t>({8, 4, 2});
  EXPECT_EQ(numbering(coordinates).address(), coordinates.address());
}

TEST(Numbering, HasTheRunsOfItsCoordinatesInOrder) {
  Numbering numbering{{4, 8}, 6, Space::from_intervals({{0, 2}, {8, 9}, {20, 21}})};
  runtime::Axis axis = numbering.axis();
  EXPECT_EQ(axis.size, 10);
  std::vector<std::pair<int64_t, int64_t>> runs;
  for (const runtime::Axis::Run& run : axis.runs) runs.emplace_back(run.range.lo, run.first);
  EXPECT_EQ(runs, (std::vector<std::pair<int64_t, int64_t>>{{0, 6}, {4, 0}, {8, 8}, {20, 9}}));
}

}  // namespace
}  // namespace spdistal
