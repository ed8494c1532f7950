#include "tensor/storage.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "tensor/pack.hpp"
#include "tensor/sort.hpp"

namespace spdistal {
namespace {

IndexArray indices(std::vector<int32_t> values) {
  return IndexArray::make(int64_t(values.size()), IndexWidth::Int32, [&]<class I>(I* out) {
    for (size_t i = 0; i < values.size(); i++) out[i] = I(values[i]);
  });
}

// What `verify` says of a 3 x 4 matrix whose levels are as given.
std::string fault(const Format& format, LevelArrays outer, LevelArrays inner) {
  outer.dim = 3, inner.dim = 4;
  if (outer.range == Range{}) outer.range = {0, 3};
  if (inner.range == Range{}) inner.range = {0, 4};
  auto result = verify(Pattern(format, {3, 4}, {outer, inner}));
  return result ? "" : result.refusal().message;
}
LevelArrays dense(int64_t positions, Range range = {}) { return {0, range, positions}; }
LevelArrays list(std::vector<int32_t> pos, std::vector<int32_t> crd) {
  int64_t positions = int64_t(crd.size());
  return {0, {}, positions, {{"pos", indices(std::move(pos))}, {"crd", indices(std::move(crd))}}};
}

LevelArrays singleton(std::vector<int32_t> crd) {
  int64_t positions = int64_t(crd.size());
  return {0, {}, positions, {{"crd", indices(std::move(crd))}}};
}

TEST(Verify, AcceptsWhatTheLevelsPromise) {
  EXPECT_EQ(fault(CSR, dense(3), list({0, 2, 2, 4}, {0, 3, 1, 2})), "");
  EXPECT_EQ(fault(COO(2), list({0, 3}, {0, 0, 2}), singleton({1, 2, 0})), "");
  EXPECT_EQ(fault(CSR, dense(2, {1, 3}), list({0, 0, 1}, {3})), "");
}

// Rows of 2, 0 and 2 elements: the table of each row has twice as many places.
LevelArrays hashed(std::vector<int32_t> crd, std::vector<int32_t> table) {
  LevelArrays out = list({0, 2, 2, 4}, std::move(crd));
  out.arrays.push_back({"table", indices(std::move(table))});
  return out;
}

TEST(Verify, AsksThatAMaskSaysYesOrNoOfEveryPlace) {
  Format format({Dense, Bitmap});
  auto masked = [](std::vector<uint8_t> mask, int64_t positions = 12) -> LevelArrays {
    auto fill = [&](uint8_t* out) { std::copy(mask.begin(), mask.end(), out); };
    return {0, {}, positions, {{"mask", IndexArray::flags(int64_t(mask.size()), fill)}}};
  };
  EXPECT_EQ(fault(format, dense(3), masked({1, 0, 0, 0, 0, 0, 1, 1, 0, 0, 0, 0})), "");
  EXPECT_EQ(fault(format, dense(3), masked({1, 0, 0})), "level 1 (Bitmap) has 3 elements in mask for 12 positions");
  EXPECT_EQ(fault(format, dense(3), masked({1, 0, 0}, 3)),
            "level 1 (Bitmap) has 3 positions, not 4 for each of 3 above");
  EXPECT_EQ(fault(format, dense(3), masked({1, 0, 0, 0, 0, 2, 1, 1, 0, 0, 0, 0})),
            "level 1 (Bitmap) has mask[5] = 2, which is neither 0 nor 1");
  LevelArrays wide{0, {}, 12, {{"mask", indices(std::vector<int32_t>(12))}}};
  EXPECT_EQ(fault(format, dense(3), wide), "level 1 (Bitmap) has elements of 4 bytes in mask");
}

TEST(Verify, AsksThatBandsLieInsideTheirDimension) {
  Format format({Dense, Banded});
  auto bands = [](std::vector<int32_t> pos, std::vector<int32_t> lo) -> LevelArrays {
    int64_t positions = pos.back();
    return {0, {}, positions, {{"pos", indices(std::move(pos))}, {"lo", indices(std::move(lo))}}};
  };
  EXPECT_EQ(fault(format, dense(3), bands({0, 2, 2, 6}, {2, 9, 0})), "");
  EXPECT_EQ(fault(format, dense(3), bands({0, 2, 2, 6}, {3, 0, 0})),
            "level 1 (Banded) has 2 coordinates from lo[0] = 3 on, outside [0, 4)");
  EXPECT_EQ(fault(format, dense(3), bands({0, 2, 2, 6}, {-1, 0, 0})),
            "level 1 (Banded) has 2 coordinates from lo[0] = -1 on, outside [0, 4)");
  EXPECT_EQ(fault(format, dense(3), bands({0, 2, 2, 6}, {0, 0})),
            "level 1 (Banded) has 2 elements in lo for 3 positions above");
  EXPECT_EQ(fault(format, dense(3), bands({0, 2, 1, 6}, {0, 0, 0})),
            "level 1 (Banded) has pos[1] = 2 above pos[2] = 1");
}

TEST(Verify, AsksThatATableLeadsToEveryCoordinate) {
  Format format({Dense, Hashed});
  // Coordinate c is looked for from place c % 3 of four on.
  EXPECT_EQ(fault(format, dense(3), hashed({3, 0, 1, 2}, {0, 1, -1, -1, -1, 2, 3, -1})), "");
  EXPECT_EQ(fault(format, dense(3), hashed({3, 0, 1, 2}, {1, 0, -1, -1, -1, 2, 3, -1})), "");
  EXPECT_EQ(fault(format, dense(3), hashed({3, 0, 1, 2}, {0, 1, -1, -1, -1, 2, 3})),
            "level 1 (Hashed) has 7 elements in table, not two for each of 4 positions");
  EXPECT_EQ(fault(format, dense(3), list({0, 2, 2, 4}, {3, 0, 1, 2})),
            "level 1 (Hashed) has not the arrays that such a level has (pos, crd, table)");
  EXPECT_EQ(fault(format, dense(3), hashed({3, 0, 1, 2}, {0, 2, -1, -1, -1, 2, 3, -1})),
            "level 1 (Hashed) has table[1] = 2, outside [0, 2)");
  EXPECT_EQ(fault(format, dense(3), hashed({3, 0, 1, 2}, {0, 1, 1, 1, -1, 2, 3, -1})),
            "level 1 (Hashed) has 0 free places for 2 positions in the table of parent 0");
  EXPECT_EQ(fault(format, dense(3), hashed({3, 0, 1, 2}, {0, 1, -1, -1, 3, -1, 2, -1})),
            "level 1 (Hashed) has coordinate 1 at position 2, where its table does not lead to");
  EXPECT_EQ(fault(format, dense(3), hashed({3, 3, 1, 2}, {0, 1, -1, -1, -1, 2, 3, -1})),
            "level 1 (Hashed) has coordinate 3 at position 1, where its table does not lead to");
}

TEST(Verify, NamesTheLevelThePlaceAndWhatIsThere) {
  EXPECT_EQ(fault(CSR, dense(4), list({0, 2, 2, 4}, {0, 3, 1, 2})),
            "level 0 (Dense) has 4 positions, not 3 for each of 1 above");
  EXPECT_EQ(fault(CSR, dense(4, {0, 4}), list({0, 0, 0, 0, 0}, {})), "level 0 (Dense) covers [0, 4) of [0, 3)");
  EXPECT_EQ(fault(CSR, dense(3), list({0, 2, 4}, {0, 3, 1, 2})),
            "level 1 (Compressed) has 3 elements in pos, not 4 (one more than the 3 positions above)");
  EXPECT_EQ(fault(CSR, dense(3), list({1, 2, 2, 4}, {0, 3, 1, 2})),
            "level 1 (Compressed) starts with pos[0] = 1, not 0");
  EXPECT_EQ(fault(CSR, dense(3), list({0, 3, 2, 4}, {0, 3, 1, 2})),
            "level 1 (Compressed) has pos[1] = 3 above pos[2] = 2");
  EXPECT_EQ(fault(CSR, dense(3), list({0, 2, 2, 3}, {0, 3, 1, 2})),
            "level 1 (Compressed) ends with pos[3] = 3, but has 4 positions");
  EXPECT_EQ(fault(CSR, dense(3), list({0, 2, 2, 4}, {0, 4, 1, 2})),
            "level 1 (Compressed) has crd[1] = 4, outside [0, 4)");
  EXPECT_EQ(fault(CSR, dense(3), list({0, 2, 2, 4}, {0, 3, 2, 2})),
            "level 1 (Compressed) has 2 after 2 at position 3 below the same parent: each stands once");
  EXPECT_EQ(fault(CSR, dense(3), list({0, 2, 2, 4}, {3, 0, 1, 2})),
            "level 1 (Compressed) has 0 after 3 at position 1 below the same parent: they must rise");
  EXPECT_EQ(fault(COO(2), list({0, 3}, {0, 0, 2}), singleton({1, 1, 0})),
            "level 0 (CompressedNonUnique) has (0, 1) after (0, 1) at position 1 below the same parent: each stands "
            "once");
  EXPECT_EQ(fault(COO(2), list({0, 3}, {0, 0, 2}), singleton({1, 2})),
            "level 1 (Singleton) has 2 positions for 3 above");
}

TEST(Storage, SharesItsPatternAndKeepsItsValuesToItself) {
  Coordinates entries({4, 4}, ScalarType::Float64);
  entries.add({1, 1}, 2.0);
  Storage a = pack(entries.clone(), CSR);
  Storage b = a.clone();
  Storage zero(a.shared_pattern(), ScalarType::Float32);
  b.values<double>()[0] = 5;
  EXPECT_EQ(a.values<double>()[0], 2);
  EXPECT_EQ(zero.values<float>()[0], 0);
  EXPECT_EQ(&a.pattern(), &b.pattern());
  EXPECT_EQ(&a.pattern(), &zero.pattern());
  EXPECT_NE(a.pattern().version(), pack(std::move(entries), CSR).pattern().version());
}

TEST(Storage, IsAlignedToTheCacheLineWhateverItsSize) {
  for (size_t bytes : {size_t(0), size_t(1), size_t(63), size_t(4096), size_t(3) << 20}) {
    Buffer buffer = Buffer::zeroed(bytes);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(buffer.data()) % 64, 0u);
    for (size_t i = 0; i < bytes; i += 1000) EXPECT_EQ(buffer.data()[i], std::byte(0));
  }
}

TEST(Storage, RefusesToBeReadWithAnotherType) {
  Storage scalar(std::make_shared<const Pattern>(Format(), std::vector<int64_t>{}, std::vector<LevelArrays>{}),
                 ScalarType::Float64);
  EXPECT_EQ(scalar.nnz(), 1);
  EXPECT_THROW(scalar.values<float>(), InternalError);
}

TEST(Coordinates, ConvertToTypesThatHoldTheirValuesAndToNoOthers) {
  Coordinates entries({9}, ScalarType::Float64);
  entries.add({0}, 2);
  entries.add({1}, -3);
  Coordinates integers = entries.clone().converted(ScalarType::Int32);
  EXPECT_EQ(integers.values<int32_t>()[0], 2);
  EXPECT_EQ(integers.values<int32_t>()[1], -3);
  entries.add({2}, -3.5);
  EXPECT_EQ(entries.clone().converted(ScalarType::Complex64).values<std::complex<float>>()[2], -3.5f);
  EXPECT_THROW(entries.clone().converted(ScalarType::Int32), UserError);
  entries.add({3}, 1e20);
  EXPECT_THROW(entries.clone().converted(ScalarType::Int64), UserError);
  EXPECT_THROW(Coordinates({1}, ScalarType::Complex64).converted(ScalarType::Float64), UserError);
}

TEST(Coordinates, RefuseEntriesOfAnotherOrderAndNegativeSizes) {
  Coordinates entries({3, 3}, ScalarType::Float64);
  EXPECT_THROW(entries.add({1}, 1.0), UserError);
  EXPECT_THROW(Coordinates({-1}, ScalarType::Float64), UserError);
}

TEST(Sort, LeavesSortedEntriesAsTheyAreAndOrdersByAnyDimension) {
  Coordinates entries({3, 3}, ScalarType::Int64);
  for (int64_t i = 0; i < 3; i++)
    for (int64_t j = 0; j < 3; j++) entries.add({i, j}, 3 * i + j);
  int rows_first[] = {0, 1}, columns_first[] = {1, 0};
  Coordinates same = sort_and_merge(entries.clone(), rows_first);
  Coordinates turned = sort_and_merge(std::move(entries), columns_first);
  for (int64_t e = 0; e < 9; e++) {
    EXPECT_EQ(same.values<int64_t>()[size_t(e)], e);
    EXPECT_EQ(turned.values<int64_t>()[size_t(e)], 3 * (e % 3) + e / 3);
  }
}

TEST(Sort, IsStableForMillionsOfSkewedKeys) {
  // Many equal keys, one bucket far larger than the others; sums of doubles tell the order of insertion.
  size_t n = 1000000;
  Coordinates entries({int64_t(1) << 20, int64_t(1) << 20}, ScalarType::Float64);
  entries.resize(int64_t(n));
  std::vector<std::pair<std::pair<int64_t, int64_t>, double>> expected;
  uint64_t state = 9;
  for (size_t e = 0; e < n; e++) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    bool heavy = (state >> 60) < 12;
    int64_t i = heavy ? 5 : int64_t(state >> 44);
    int64_t j = heavy ? int64_t((state >> 20) % 7) : int64_t((state >> 10) & 0xfffff);
    double value = double(state) / 3;
    entries.column(0)[e] = i, entries.column(1)[e] = j, entries.values<double>()[e] = value;
    expected.push_back({{i, j}, value});
  }
  std::stable_sort(expected.begin(), expected.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  size_t unique = 0;
  for (size_t e = 1; e < n; e++)
    if (expected[e].first == expected[unique].first) expected[unique].second += expected[e].second;
    else expected[++unique] = expected[e];
  expected.resize(unique + 1);
  int order[] = {0, 1};
  Coordinates sorted = sort_and_merge(std::move(entries), order);
  ASSERT_EQ(size_t(sorted.size()), expected.size());
  for (size_t e = 0; e < expected.size(); e++) {
    ASSERT_EQ(std::pair(sorted.column(0)[e], sorted.column(1)[e]), expected[e].first);
    ASSERT_EQ(sorted.values<double>()[e], expected[e].second);
  }
}

// A vector of so many elements, 0, 1, 2, …
Storage counted(int64_t n) {
  Storage out(dense_pattern(Format({Dense}), {n}, {{0, n}}, ScalarType::Float64, "a vector"), ScalarType::Float64);
  for (int64_t k = 0; k < n; k++) out.values<double>()[size_t(k)] = double(k);
  return out;
}

void expect_counted(std::span<const double> values) {
  for (size_t k = 0; k < values.size(); k++) ASSERT_EQ(values[k], double(k));
}

TEST(Storage, FindsItsValuesWhereverThereIsRoomForMore) {
  Storage vector = counted(1000), view = vector.view();
  EXPECT_TRUE(view.is_borrowed() && !vector.is_borrowed());
  vector.make_room(size_t(1) << 20, 0);
  const Storage& same = vector;
  expect_counted(same.values<double>());
  EXPECT_EQ(view.value_address(), vector.value_address()) << "views see the same memory";
  EXPECT_EQ(view.nnz(), 1000);
  EXPECT_EQ(vector.clone().values<double>().size(), 1000u);
}

TEST(Storage, LeavesValuesThatWereLentWhereTheyAreUntilTheyChange) {
  Storage vector = counted(1000);
  const Storage& same = vector;
  std::span<const double> lent = same.values<double>();
  std::weak_ptr<const void> watched = vector.owner();
  vector.lend();
  vector.make_room(size_t(1) << 20, 0);
  vector.make_room(size_t(8) << 20, 0);
  ASSERT_FALSE(watched.expired());
  expect_counted(lent);
  vector.value_bytes()[0] = std::byte(1);
  EXPECT_TRUE(watched.expired()) << "nobody relies on what was there before the change";
}

TEST(Storage, OfSomebodyElseStaysWhereItIs) {
  std::vector<double> mine(10);
  Storage vector(counted(10).shared_pattern(), ScalarType::Float64,
                 Buffer::borrowed(std::as_writable_bytes(std::span(mine))));
  EXPECT_FALSE(vector.can_move());
  EXPECT_TRUE(counted(10).can_move());
  EXPECT_TRUE(counted(10).view().can_move());
}

}  // namespace
}  // namespace spdistal
