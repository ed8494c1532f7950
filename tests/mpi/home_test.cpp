#include "tensor/home.hpp"

#include <gtest/gtest.h>

#include "mpi/random_homes.hpp"
#include "tensor/distribute.hpp"
#include "tensor/nodes.hpp"
#include "tensor/pack.hpp"

namespace spdistal::runtime {
namespace {

using namespace testkit;

std::map<Point, double> by_path(const HomeCase& made, const Coordinates& entries) {
  std::map<Point, double> out;
  for (int64_t e = 0; e < entries.size(); e++) {
    Point path;
    for (int d : made.format.mode_order()) path.push_back(entries.column(size_t(d))[size_t(e)]);
    EXPECT_TRUE(out.emplace(path, entries.values<double>()[size_t(e)]).second) << "an element stands twice";
  }
  return out;
}

/// Everything that must be true of a home.
void check_home(Transport& t, const HomeCase& made, const Whole& whole, const Home& home) {
  ASSERT_EQ(home.shares(), made.shares);
  ASSERT_EQ(home.nnz(), int64_t(whole.elements.size()));
  for (size_t k = 0; k < made.dims.size(); k++) ASSERT_EQ(home.positions(k), whole.positions[k]) << "level " << k;
  size_t tail = Tree(made.format, made.dims).tail();
  for (int64_t c = home.colours().lo; c < home.colours().hi; c++) {
    SCOPED_TRACE("colour " + std::to_string(c));
    const Storage& piece = home.piece(c);
    ASSERT_TRUE(verify(piece)) << verify(piece).refusal().message;
    std::map<Point, double> held, owned, expected, expected_owned;
    std::set<Point> nodes, held_nodes;
    for_each_position(piece.pattern(), [&](std::span<const int64_t> at, int64_t position) {
      Point path;
      for (int d : made.format.mode_order()) path.push_back(at[size_t(d)]);
      double value = piece.values<double>()[size_t(position)];
      Point node(path.begin(), path.begin() + int64_t(tail));
      nodes.insert(node);
      if (home.holds(c, at, position)) {
        held.emplace(path, value);
        held_nodes.insert(node);
      } else {
        EXPECT_EQ(value, 0);
      }
      if (home.owns(c, at, position)) owned.emplace(path, value);
    });
    for (const auto& [path, value] : whole.elements) {
      if (!is_held(made, whole, c, path)) continue;
      expected.emplace(path, value);
      bool lower = false;
      for (int64_t b = 0; b < c; b++) lower = lower || is_held(made, whole, b, path);
      if (!lower) expected_owned.emplace(path, value);
    }
    ASSERT_EQ(held, expected);
    ASSERT_EQ(owned, expected_owned);
    if (tail > 0) { ASSERT_EQ(nodes, held_nodes) << "a node without an element of the share"; }
    std::map<Point, double> listed;
    for_each_owned(home, c, [&](std::span<const int64_t> at, int64_t position) {
      Point path;
      for (int d : made.format.mode_order()) path.push_back(at[size_t(d)]);
      listed.emplace(path, piece.values<double>()[size_t(position)]);
    });
    ASSERT_EQ(listed, expected_owned);
    // Dense levels cover the share and no more; of position blocks, from the first to the last row.
    const Share& share = made.shares.of[size_t(c)];
    for (size_t k = 0; k < made.dims.size(); k++) {
      if (!made.format.levels()[k].properties().full) continue;
      const Space& set = share.coordinates[size_t(made.format.mode_order()[k])];
      Range range = piece.pattern().level(k).range;
      if (share.fused.empty() && share.positions.empty() && !holds_nothing(share, made.dims)) {
        ASSERT_EQ(range, set.bounding()[0]);
      } else if (k == 0 && !share.positions.empty()) {
        Range there{INT64_MAX, INT64_MIN};
        for (const auto& [path, value] : expected)
          there = {std::min(there.lo, path[0]), std::max(there.hi, path[0] + 1)};
        bool counts = Tree(made.format, made.dims).counted_at(share.positions[0].level) && share.positions[0].of > 1;
        if (expected.empty() && counts) { ASSERT_EQ(range.size(), 0); }
        if (!expected.empty()) {
          ASSERT_LE(range.lo, there.lo);
          ASSERT_GE(range.hi, there.hi);
        }
        // With dense rows and a split of what is below them, rows that are there are all that is covered.
        bool below = std::ranges::all_of(share.positions, [&](const PositionBlock& split) { return split.of > 1; });
        if (!expected.empty() && counts && below && tail == made.dims.size()) { ASSERT_EQ(range, there); }
      }
    }
    if (!home.ordered()) continue;
    for (size_t k = 0; k < made.dims.size(); k++) {
      int64_t base = home.base(c, k);
      size_t end = k;
      while (end + 1 < made.dims.size() && made.format.levels()[end + 1].properties().branchless) end++;
      for_each_node(piece.pattern(), end, [&](std::span<const int64_t> path, int64_t position) {
        ASSERT_EQ(whole.numbers[k].at(Point(path.begin(), path.end())), base + position) << "level " << k;
      });
    }
  }
  Coordinates all = gather(t, home);
  ASSERT_EQ(by_path(made, all), whole.elements);
  auto next = whole.elements.begin();
  for (int64_t e = 0; e < all.size(); e++, ++next) {
    Point at = from_path(made, next->first);
    for (size_t d = 0; d < at.size(); d++) ASSERT_EQ(all.column(d)[size_t(e)], at[d]) << "not in storage order";
  }
  Result<> fine = verify(t, home);
  ASSERT_TRUE(fine) << fine.refusal().message;
}

TEST(Homes, HoldWhatTheirSharesSayInEveryFormat) {
  on_ranks([](Transport& t) {
    for_each_case(t, "pack", t.size() == 1 ? 5000 : cases(300, 1000), [&](Random& random) {
      HomeCase made = random_home(random);
      SCOPED_TRACE(describe(made));
      std::vector<Coordinates> parts = random_parts(random, made.dims, t.size());
      Whole whole = whole_of(made, parts);
      Home home = pack(t, parts[size_t(t.rank())].clone(), made.format, made.shares,
                       {.round_bytes = size_t(pick(random, 1, 400))});
      check_home(t, made, whole, home);
    });
  });
}

TEST(Homes, AreTheSameWhenEveryRankHasAllEntries) {
  on_ranks([](Transport& t) {
    for_each_case(t, "alike", t.size() == 1 ? 1000 : cases(100, 100), [&](Random& random) {
      HomeCase made = random_home(random);
      SCOPED_TRACE(describe(made));
      std::vector<Coordinates> parts = random_parts(random, made.dims, 1);
      Whole whole = whole_of(made, parts);
      check_home(t, made, whole, pack_alike(t, parts[0].clone(), made.format, made.shares));
      check_home(t, made, whole, scatter(t, pack(std::move(parts[0]), made.format), made.shares));
    });
  });
}

TEST(Homes, FindSingleElements) {
  on_ranks([](Transport& t) {
    for_each_case(t, "at", cases(100, 60), [&](Random& random) {
      HomeCase made = random_home(random);
      SCOPED_TRACE(describe(made));
      std::vector<Coordinates> parts = random_parts(random, made.dims, t.size());
      Whole whole = whole_of(made, parts);
      Home home = pack(t, parts[size_t(t.rank())].clone(), made.format, made.shares);
      if (std::find(made.dims.begin(), made.dims.end(), 0) != made.dims.end()) return;
      for (const auto& [path, value] : whole.elements) {
        ASSERT_EQ(at<double>(t, home, from_path(made, path)), value);
        if (pick(random, 0, 2) == 0) break;
      }
      Point path;
      for (int d : made.format.mode_order()) path.push_back(pick(random, 0, made.dims[size_t(d)] - 1));
      auto found = whole.elements.find(path);
      ASSERT_EQ(at<double>(t, home, from_path(made, path)), found == whole.elements.end() ? 0 : found->second);
    });
  });
}

}  // namespace
}  // namespace spdistal::runtime
