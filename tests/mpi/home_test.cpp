#include "tensor/home.hpp"

#include <gtest/gtest.h>

#include "mpi/allocations.hpp"
#include "mpi/random_homes.hpp"
#include "runtime/transport/threads.hpp"
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

/// Everything that must be true of a home. What is gathered on all ranks for that is slow under mpirun: not always.
void check_home(Transport& t, Random& random, const HomeCase& made, const Whole& whole, const Home& home) {
  ASSERT_EQ(home.shares(), made.shares);
  if (!whole.fills) { ASSERT_EQ(home.nnz(), int64_t(whole.elements.size())); }
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
    ASSERT_EQ(whole.certain(held), whole.certain(expected));
    ASSERT_EQ(whole.certain(owned), whole.certain(expected_owned));
    if (tail > 0 && !whole.fills) { ASSERT_EQ(nodes, held_nodes) << "a node without an element of the share"; }
    std::map<Point, double> listed;
    for_each_owned(home, c, [&](std::span<const int64_t> at, int64_t position) {
      Point path;
      for (int d : made.format.mode_order()) path.push_back(at[size_t(d)]);
      listed.emplace(path, piece.values<double>()[size_t(position)]);
    });
    ASSERT_EQ(whole.certain(listed), whole.certain(expected_owned));
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
        for (const auto& [path, value] : whole.certain(expected))
          there = {std::min(there.lo, path[0]), std::max(there.hi, path[0] + 1)};
        bool counts =
            Tree(made.format, made.dims).counted_at(share.positions[0].level) && share.positions[0].part.count() > 1;
        if (expected.empty() && counts) { ASSERT_EQ(range.size(), 0); }
        if (!expected.empty()) {
          ASSERT_LE(range.lo, there.lo);
          ASSERT_GE(range.hi, there.hi);
        }
        // With dense rows and a split of what is below them, rows that are there are all that is covered.
        bool below =
            std::ranges::all_of(share.positions, [&](const PositionBlock& split) { return split.part.count() > 1; });
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
  int64_t often = t.size() == 1 ? 1 : 4;
  if (pick(random, 1, often) > 1) return;
  Coordinates all = gather(t, home);
  std::map<Point, double> found = by_path(made, all);
  ASSERT_EQ(whole.certain(found), whole.certain(whole.elements));
  auto next = found.begin();
  for (int64_t e = 0; e < all.size(); e++, ++next) {
    Point at = from_path(made, next->first);
    for (size_t d = 0; d < at.size(); d++) ASSERT_EQ(all.column(d)[size_t(e)], at[d]) << "not in storage order";
  }
  if (pick(random, 1, often) > 1) return;
  Result<> fine = verify(t, home);
  ASSERT_TRUE(fine) << fine.refusal().message;
}

TEST(Homes, HoldWhatTheirSharesSayInEveryFormat) {
  on_ranks([](Transport& t) {
    for_each_case(t, "pack", t.size() == 1 ? 5000 : cases(300, 1000), [&](Random& random) {
      HomeCase made = random_home(random);
      SCOPED_TRACE(describe(made));
      std::vector<Coordinates> parts = random_parts(random, made.dims, t.size());
      if (pick(random, 0, 1)) parts = in_rows(random, made, parts);
      Whole whole = whole_of(made, parts);
      size_t round = pick(random, 0, 3) == 0 ? size_t(pick(random, 1, 200)) : 4096;
      Home home = pack(t, parts[size_t(t.rank())].clone(), made.format, made.shares, {.round_bytes = round});
      check_home(t, random, made, whole, home);
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
      check_home(t, random, made, whole, pack_alike(t, parts[0].clone(), made.format, made.shares));
      check_home(t, random, made, whole, scatter(t, pack(std::move(parts[0]), made.format), made.shares));
    });
  });
}

TEST(Homes, MoveToAnyOtherSharesAndFormats) {
  on_ranks([](Transport& t) {
    for_each_case(t, "move", t.size() == 1 ? 2000 : cases(150, 300), [&](Random& random) {
      HomeCase from = random_home(random);
      std::vector<Coordinates> parts = random_parts(random, from.dims, t.size());
      Home home = pack(t, parts[size_t(t.rank())].clone(), from.format, from.shares);
      // Formats that can afford the sizes; all that is stored stays stored, zeros too.
      HomeCase to = from;
      bool small = std::ranges::all_of(from.dims, [](int64_t dim) { return dim < 100; });
      if (small) to.format = random_format(random, from.dims.size());
      to.shares = random_shares(random, to.format, to.dims);
      SCOPED_TRACE(describe(from) + "\nto " + describe(to));
      std::vector<Coordinates> stored;
      stored.emplace_back(from.dims, ScalarType::Float64);
      Whole whole = whole_of(from, parts);
      for (const auto& [path, value] : whole.elements)
        stored[0].add(std::span<const int64_t>(from_path(from, path)), value);
      if (whole.fills) stored[0] = gather(t, home);  // what lies between is stored between the entries of a piece
      Home moved = redistribute(t, home, to.format, to.shares);
      check_home(t, random, to, whole_of(to, stored), moved);
      EXPECT_NE(moved.version(), home.version());
      EXPECT_EQ(t.allgather(moved.version()), std::vector<uint64_t>(size_t(t.size()), moved.version()));
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

TEST(Homes, OfOnePatternShareItAndDifferInVersion) {
  on_ranks([](Transport& t) {
    Random random(7);
    HomeCase made = random_home(random);
    std::vector<Coordinates> parts = random_parts(random, made.dims, t.size());
    Home home = pack(t, parts[size_t(t.rank())].clone(), made.format, made.shares);
    Home copy = home.clone(t), zeros = home.zeros_like(t, ScalarType::Int64);
    EXPECT_EQ(copy.pattern_version(), home.pattern_version());
    EXPECT_EQ(zeros.pattern_version(), home.pattern_version());
    std::set<uint64_t> versions{home.version(), copy.version(), zeros.version()};
    home.changed();
    versions.insert(home.version());
    EXPECT_EQ(versions.size(), 4u);
    Whole whole = whole_of(made, parts);
    check_home(t, random, made, whole, copy);
    for (int64_t c = zeros.colours().lo; c < zeros.colours().hi; c++)
      for (int64_t value : zeros.piece(c).values<int64_t>()) EXPECT_EQ(value, 0);
  });
}

TEST(Homes, OfDenseTensorsAreFilledByCoordinates) {
  on_ranks([](Transport& t) {
    for_each_case(t, "fill", cases(100, 60), [&](Random& random) {
      size_t order = size_t(pick(random, 0, 3));
      HomeCase made{Format(std::vector<LevelFormat>(order, Dense)), {}, {ColourGrid({}), {}}};
      made.dims = random_dims(random, made.format);
      made.shares = random_shares(random, made.format, made.dims);
      SCOPED_TRACE(describe(made));
      Home home = pack(t, Coordinates(made.dims, ScalarType::Float64), made.format, made.shares);
      auto value = [](std::span<const int64_t> at) {
        double sum = 1;
        for (int64_t x : at) sum = sum * 7 + double(x);
        return sum;
      };
      fill<double>(home, value);
      Whole whole = whole_of(made, {});
      for (auto& [path, element] : whole.elements) element = value(path);
      check_home(t, random, made, whole, home);
    });
  });
}

TEST(Homes, OfOneRankAndOneColourAreTheStorageItself) {
  auto alone = loopback();
  Coordinates entries({4, 3}, ScalarType::Float64);
  entries.add({1, 2}, 3.0);
  entries.add({3, 0}, 4.0);
  Storage whole = pack(entries.clone(), CSR);
  const std::byte* values = whole.value_bytes();
  Home home = scatter(*alone, std::move(whole), undivided({4, 3}));
  EXPECT_EQ(home.piece(0).value_bytes(), values) << "nothing was copied";
  EXPECT_TRUE(home.ordered());
  EXPECT_EQ(pack(*alone, std::move(entries), CSR, undivided({4, 3})).nnz(), 2);
}

// ---- errors ----

Shares by_rows(int64_t rows, int64_t columns, int64_t colours) {
  Shares out{ColourGrid({colours}), {}};
  for (int64_t c = 0; c < colours; c++) {
    Range mine = block(rows, colours, c);
    out.of.push_back(whole_share({rows, columns}));
    out.of.back().coordinates[0] = Space::interval(mine.lo, mine.hi);
  }
  return out;
}

template <class F>
std::string refusal_of(F&& f) {
  try {
    f();
  } catch (const UserError& error) { return error.diagnostic().message; }
  return "accepted";
}

TEST(HomeErrors, OfOneRankAreThrownOnAllAndNameIt) {
  on_ranks([](Transport& t) {
    for (int bad = 0; bad < t.size(); bad++) {
      Coordinates mine({4, 5}, ScalarType::Float64);
      mine.add({1, 1}, 1.0);
      if (t.rank() == bad) mine.add({2, 7}, 1.0);
      std::string rank = t.size() == 1 ? "" : "rank " + std::to_string(bad) + ": ";
      EXPECT_EQ(refusal_of([&] { pack(t, std::move(mine), CSR, by_rows(4, 5, 3)); }),
                rank + "entry 1 at (2, 7): coordinate 7 lies outside dimension 1, whose size is 5");
    }
    // A piece that does not fit into memory.
    int64_t rows = int64_t(1) << 45;
    Shares uneven{ColourGrid({2}), {whole_share({rows}), whole_share({rows})}};
    uneven.of[0].coordinates[0] = Space::interval(0, 1);
    uneven.of[1].coordinates[0] = Space::interval(1, rows);
    std::string said = refusal_of([&] { pack(t, Coordinates({rows}, ScalarType::Float64), Format({Dense}), uneven); });
    EXPECT_TRUE(said.starts_with(t.size() == 1 ? "storing dimension 0" : "rank 1: storing dimension 0")) << said;
    EXPECT_EQ(t.allreduce(int64_t(1), ReduceOp::Sum), t.size()) << "the ranks are out of step";
  });
}

TEST(HomeErrors, OfRanksThatDoNotMeanTheSameNameOne) {
  on_ranks([](Transport& t) {
    if (t.size() == 1) return;
    int odd = t.size() - 1;
    bool me = t.rank() == odd;
    std::string rank = std::to_string(odd);
    Coordinates entries({4, 5}, ScalarType::Float64);
    entries.add({1, 1}, me ? 2.0 : 1.0);
    EXPECT_EQ(refusal_of([&] { pack_alike(t, entries.clone(), CSR, by_rows(4, 5, 3)); }),
              "the list of entries on rank " + rank + " is not that of rank 0");
    EXPECT_EQ(refusal_of([&] { pack(t, entries.clone(), CSR, by_rows(4, 5, me ? 2 : 3)); }),
              "the format, size or distribution of the tensor on rank " + rank + " is not that of rank 0");
    EXPECT_EQ(refusal_of([&] { pack(t, entries.clone(), me ? CSC : CSR, by_rows(4, 5, 3)); }),
              "the format, size or distribution of the tensor on rank " + rank + " is not that of rank 0");
    EXPECT_EQ(t.allreduce(int64_t(1), ReduceOp::Sum), t.size()) << "the ranks are out of step";
  });
}

TEST(HomeErrors, SayWhatIsWrongWithShares) {
  on_ranks([](Transport& t) {
    Coordinates none({4, 5}, ScalarType::Float64);
    Shares shares = by_rows(4, 5, 2);
    shares.of[1].coordinates[0] = Space::interval(2, 9);
    EXPECT_EQ(refusal_of([&] { pack(t, none.clone(), CSR, shares); }),
              "the share of colour 1 reaches outside dimension 0, whose size is 4");
    shares = by_rows(4, 5, 2);
    shares.of[1].positions.push_back({1, {{{0, 2}}}});
    EXPECT_EQ(refusal_of([&] { pack(t, none.clone(), CSR, shares); }),
              "the share of colour 1 splits other positions than that of another colour");
    std::vector<int64_t> huge{int64_t(1) << 40, int64_t(1) << 40};
    Shares fused = undivided(huge);
    fused.of[0].fused.push_back({{0, 1}, {0, 5}});
    EXPECT_EQ(refusal_of([&] { pack(t, Coordinates(huge, ScalarType::Float64), CSF(2), fused); }),
              "fused dimensions have more elements together than can be counted (2^63)");
  });
}

TEST(HomeErrors, OfMemoryThatRunsOutAnywhereAreThrownOnAllRanks) {
  on_ranks([](Transport& t) {
    if (!injects_failures() || !counts_allocations(t)) return;  // ranks as threads copy messages
    Random random(3);
    for (int bad = 0; bad < t.size(); bad++)
      for (int kind = 0; kind < 3; kind++) {
        int64_t n = 4000;
        Coordinates mine({n, n}, ScalarType::Float64);
        for (int64_t e = 0; e < n; e++) mine.add({pick(random, 0, n - 1), pick(random, 0, n - 1)}, 1.0);
        Shares shares = by_rows(n, n, 5);
        if (kind == 1)
          for (size_t c = 0; c < 5; c++)
            shares.of[c] = {whole_share({n, n}).coordinates, {}, {{1, {{{int64_t(c), 5}}}}}};
        // Every request that grows with the data may fail: the first, the second, …
        int64_t survived = 0;
        for (int64_t k = 0; survived == 0 && k < 400; k++) {
          bool failed = false;
          try {
            fail_large_allocation(t.rank() == bad ? k : -1, 16000);
            pack(t, mine.clone(), kind == 2 ? COO(2) : CSR, shares);
          } catch (const SystemError& error) {
            failed = true;
            EXPECT_EQ(std::string(error.what()),
                      t.size() == 1 ? "out of memory" : "rank " + std::to_string(bad) + ": out of memory");
          }
          fail_large_allocation(-1, 0);
          ASSERT_EQ(t.allreduce(int64_t(failed), ReduceOp::Sum), failed ? t.size() : 0);
          survived = !failed;
        }
        ASSERT_EQ(survived, 1) << "all requests for memory were tried";
      }
  });
}

}  // namespace
}  // namespace spdistal::runtime
