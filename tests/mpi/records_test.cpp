#include "runtime/records/records.hpp"

#include <gtest/gtest.h>

#include <map>

#include "mpi/cases.hpp"
#include "runtime/records/deliver.hpp"
#include "runtime/records/sort_globally.hpp"
#include "spdistal/error.hpp"

namespace spdistal::runtime {
namespace {

using namespace testkit;

struct Record {
  Point at;
  int64_t value;
  bool operator==(const Record&) const = default;
};

std::vector<Record> list(const Records& records) {
  std::vector<Record> out;
  for (int64_t k = 0; k < records.size(); k++)
    out.push_back({Point(records.at(k).begin(), records.at(k).end()), records.value_as<int64_t>(k)});
  return out;
}

Records records_of(int order, const std::vector<Record>& records) {
  Records out(order, ScalarType::Int64);
  for (const Record& record : records) out.add(record.at, record.value);
  return out;
}

/// Records of every rank, the same on all; values tell where a record was made.
std::vector<std::vector<Record>> random_records(Random& random, int ranks, int order) {
  std::vector<std::vector<Record>> out(static_cast<size_t>(ranks));
  int64_t extent = pick(random, 0, 3) == 0 ? int64_t(1) << 62 : pick(random, 1, 6);
  for (int r = 0; r < ranks; r++)
    for (int64_t n = pick(random, 0, 2) * pick(random, 0, 25); n > 0; n--) {
      Point at;
      for (int k = 0; k < order; k++) at.push_back(pick(random, pick(random, 0, 9) == 0 ? -extent : 0, extent));
      out[size_t(r)].push_back({at, int64_t(r) * 1000 + n});
    }
  return out;
}

std::vector<int> random_modes(Random& random, int order) {
  std::vector<int> modes(static_cast<size_t>(order));
  for (int k = 0; k < order; k++) modes[size_t(k)] = k;
  std::shuffle(modes.begin(), modes.end(), random);
  return modes;
}

/// The slow way: all records in one list.
std::vector<Record> sorted(std::vector<Record> all, const std::vector<int>& modes, Duplicates duplicates) {
  std::ranges::stable_sort(all, [&](const Record& a, const Record& b) { return precedes(a.at, b.at, modes); });
  if (duplicates == Duplicates::Keep) return all;
  std::vector<Record> out;
  for (const Record& record : all)
    if (!out.empty() && out.back().at == record.at) out.back().value += record.value;
    else out.push_back(record);
  return out;
}

TEST(Sorting, AgreesWithAStableSortByTheModesInOrder) {
  Random random(31);
  for (int round = 0; round < 500; round++) {
    int order = int(pick(random, 0, 4));
    auto records = random_records(random, 1, order)[0];
    auto modes = random_modes(random, order);
    auto duplicates = pick(random, 0, 1) ? Duplicates::Add : Duplicates::Keep;
    Records mine = records_of(order, records);
    sort(mine, modes, duplicates);
    ASSERT_EQ(list(mine), sorted(records, modes, duplicates)) << round;
  }
}

TEST(Sorting, PutsRecordsOfAllRanksInOneOrder) {
  on_ranks([](Transport& t) {
    for_each_case(t, "sort", cases(250, 150), [&](Random& random) {
      int order = int(pick(random, 0, 4));
      auto records = random_records(random, t.size(), order);
      auto modes = random_modes(random, order);
      auto duplicates = pick(random, 0, 1) ? Duplicates::Add : Duplicates::Keep;
      Records found = sort_globally(t, records_of(order, records[size_t(t.rank())]), modes, duplicates,
                                    {.round_bytes = size_t(pick(random, 1, 400))});
      std::vector<Record> all;
      for (auto& part : records) all.insert(all.end(), part.begin(), part.end());
      all = sorted(std::move(all), modes, duplicates);
      int64_t before = t.exclusive_scan(found.size()), total = t.allreduce(found.size(), ReduceOp::Sum);
      ASSERT_EQ(total, int64_t(all.size()));
      ASSERT_EQ(list(found), std::vector<Record>(all.begin() + before, all.begin() + before + found.size()));
      // Equal coordinates do not cross ranks.
      if (before > 0 && found.size() > 0) { ASSERT_NE(all[size_t(before)].at, all[size_t(before) - 1].at); }
    });
  });
}

TEST(Sorting, GivesRanksAboutAsManyRecordsEachWhereverTheyWere) {
  on_ranks([](Transport& t) {
    // All on the last rank, descending.
    Records mine(2, ScalarType::Float64);
    int64_t n = 20'000;
    if (t.rank() == t.size() - 1)
      for (int64_t k = n; k > 0; k--) mine.add(Point{k / 7, k}, double(k));
    std::vector<int> modes{0, 1};
    Records found = sort_globally(t, mine, modes, Duplicates::Add);
    EXPECT_LE(found.size(), n / t.size() + n / 10);
    EXPECT_GE(found.size(), n / t.size() - n / 10);
  });
}

TEST(Delivery, BringsEachRecordToEveryColourNamedInOrder) {
  on_ranks([](Transport& t) {
    for_each_case(t, "deliver", cases(250, 150), [&](Random& random) {
      int order = int(pick(random, 1, 3));
      auto records = random_records(random, t.size(), order);
      int64_t colours = pick(random, 1, 7);
      // None, one or two colours by a rule on the coordinates.
      auto rule = [&](std::span<const int64_t> at, std::vector<int64_t>& to) {
        int64_t x = at[0] & 0xff;
        if (x % 5 == 4) return;
        to.push_back(x % colours);
        if (x % 3 == 0 && (x + 1) % colours != x % colours) to.push_back((x + 1) % colours);
      };
      auto found = deliver(t, records_of(order, records[size_t(t.rank())]), colours,
                           [&](std::span<const int64_t> at, int64_t, std::vector<int64_t>& to) { rule(at, to); },
                           {.round_bytes = size_t(pick(random, 1, 300))});
      std::map<int64_t, std::vector<Record>> expected;
      for (auto& part : records)
        for (const Record& record : part) {
          std::vector<int64_t> to;
          rule(record.at, to);
          for (int64_t colour : to) expected[colour].push_back(record);
        }
      Range here = colours_here(t, colours);
      ASSERT_EQ(int64_t(found.size()), here.size());
      for (int64_t c = here.lo; c < here.hi; c++) ASSERT_EQ(list(found[size_t(c - here.lo)]), expected[c]);
    });
  });
}

TEST(Delivery, ByPositionInTheGlobalOrderGivesBlocksOfEqualSize) {
  on_ranks([](Transport& t) {
    for_each_case(t, "positions", cases(60, 40), [&](Random& random) {
      auto records = random_records(random, t.size(), 2);
      std::vector<int> modes{1, 0};
      Records mine = sort_globally(t, records_of(2, records[size_t(t.rank())]), modes, Duplicates::Add);
      int64_t base = t.exclusive_scan(mine.size()), n = t.allreduce(mine.size(), ReduceOp::Sum);
      int64_t colours = pick(random, 1, 6);
      auto found =
          deliver(t, std::move(mine), colours, [&](std::span<const int64_t>, int64_t k, std::vector<int64_t>& to) {
            to.push_back(block_of(n, colours, base + k));
          });
      std::vector<Record> all;
      for (auto& part : records) all.insert(all.end(), part.begin(), part.end());
      all = sorted(std::move(all), modes, Duplicates::Add);
      Range here = colours_here(t, colours);
      for (int64_t c = here.lo; c < here.hi; c++) {
        Range part = block(n, colours, c);
        ASSERT_EQ(list(found[size_t(c - here.lo)]), std::vector<Record>(all.begin() + part.lo, all.begin() + part.hi));
      }
    });
  });
}

TEST(Delivery, FailsOnAllRanksWhereARecordHasNoPlaceOnOne) {
  on_ranks([](Transport& t) {
    for (int bad = 0; bad < t.size(); bad++) {
      Records mine(1, ScalarType::Int64);
      for (int64_t k = 0; k < 100; k++) mine.add(Point{k}, k);
      if (t.rank() == bad) mine.add(Point{-1}, int64_t(0));
      auto place = [&](std::span<const int64_t> at, int64_t, std::vector<int64_t>& to) {
        if (at[0] < 0) throw UserError("coordinate -1 is outside [0, 100)");
        to.push_back(at[0] % 4);
      };
      EXPECT_THROW(deliver(t, mine, 4, place, {.round_bytes = 64}), UserError);
      EXPECT_EQ(t.allreduce(int64_t(1), ReduceOp::Sum), t.size()) << "the ranks are out of step";
    }
  });
}

}  // namespace
}  // namespace spdistal::runtime
