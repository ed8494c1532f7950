#include "tensor/pack.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "tensor/iterate.hpp"
#include "unit/tensor/random_tensors.hpp"

namespace spdistal {
namespace {

// The number of positions of every level, by definition: a full level has each coordinate below each position above,
// any other one position for each distinct tuple of coordinates down to the end of the run of tuples that it is in.
template <class T>
std::vector<int64_t> expected_positions(const Oracle<T>& oracle, const Format& format,
                                        const std::vector<int64_t>& dims) {
  std::vector<int64_t> out;
  int64_t positions = 1;
  for (size_t k = 0; k < format.order(); k++) {
    if (format.levels()[k].properties().placed) {
      positions *= dims[size_t(format.mode_order()[k])];
    } else if (format.levels()[k].properties().fills) {
      std::map<std::vector<int64_t>, Range> bands;  // by the coordinates above
      for (const auto& [at, value] : oracle) {
        std::vector<int64_t> above;
        for (size_t l = 0; l < k; l++) above.push_back(at[size_t(format.mode_order()[l])]);
        int64_t c = at[size_t(format.mode_order()[k])];
        Range& band = bands.try_emplace(above, Range{c, c + 1}).first->second;
        band = {std::min(band.lo, c), std::max(band.hi, c + 1)};
      }
      positions = 0;
      for (const auto& [above, band] : bands) positions += band.size();
    } else {
      size_t end = k + 1;
      if (!format.levels()[k].properties().unique || format.levels()[k].properties().branchless)
        while (end < format.order() && format.levels()[end].properties().branchless) end++;
      std::set<std::vector<int64_t>> tuples;
      for (const auto& [at, value] : oracle) {
        std::vector<int64_t> tuple;
        for (size_t l = 0; l < end; l++) tuple.push_back(at[size_t(format.mode_order()[l])]);
        tuples.insert(tuple);
      }
      positions = int64_t(tuples.size());
    }
    out.push_back(positions);
  }
  return out;
}

template <class T>
void check_storage(const Storage& storage, const Oracle<T>& oracle, Random& random) {
  const Format& format = storage.format();
  SCOPED_TRACE("format " + format.str() + " of " + std::string(name_of(storage.type())));
  auto sound = verify(storage);
  ASSERT_TRUE(bool(sound)) << sound.refusal().str();

  std::vector<int64_t> positions;
  for (const LevelArrays& level : storage.pattern().levels()) positions.push_back(level.positions);
  EXPECT_EQ(positions, expected_positions(oracle, format, storage.dims()));

  int64_t stored_elements = 0;
  for (const Range& run : stored_runs(storage.pattern())) stored_elements += run.size();
  bool gaps = std::any_of(format.levels().begin(), format.levels().end(),
                          [](const LevelFormat& level) { return functions_of(level).stored != nullptr; });
  EXPECT_TRUE(gaps || stored_elements == storage.nnz());

  // In storage order, each once; what is not in the oracle is there for the sake of a level that fills, and zero.
  std::vector<int64_t> last;
  int64_t visited = 0;
  Oracle<T> found;
  for_each<T>(storage, [&](std::span<const int64_t> at, T value) {
    std::vector<int64_t> key(at.begin(), at.end()), stored;
    for (int dimension : format.mode_order()) stored.push_back(at[size_t(dimension)]);
    EXPECT_TRUE(visited == 0 || last < stored);
    last = stored;
    visited++;
    if (oracle.contains(key)) found[key] = value;
    else EXPECT_EQ(value, T{});
  });
  EXPECT_EQ(found, oracle);
  EXPECT_EQ(visited, stored_elements);

  Coordinates listed = unpack(storage);
  EXPECT_EQ(listed.size(), stored_elements);
  int64_t entry = 0;
  for_each<T>(storage, [&](std::span<const int64_t> at, T value) {
    for (size_t d = 0; d < at.size(); d++) EXPECT_EQ(listed.column(d)[size_t(entry)], at[d]);
    EXPECT_EQ(listed.values<T>()[size_t(entry++)], value);
  });

  for (int trial = 0; trial < 10; trial++) {
    std::vector<int64_t> place;
    for (int64_t dim : storage.dims()) {
      if (dim == 0) return;
      place.push_back(below(random, dim));
    }
    auto known = oracle.find(place);
    EXPECT_EQ(at<T>(storage, place), known == oracle.end() ? T{} : known->second);
  }
}

template <class T>
void check_random(Random& random, const Format& format) {
  std::vector<int64_t> dims;
  for (size_t d = 0; d < format.order(); d++) dims.push_back(below(random, 20) == 0 ? 0 : 1 + below(random, 5));
  auto [entries, oracle] = random_entries<T>(random, dims, below(random, 3) == 0 ? 0 : below(random, 40));
  Storage storage = pack(std::move(entries), format);
  if (format.order() == 0) oracle.emplace(std::vector<int64_t>{}, T{});  // a scalar is always there
  check_storage<T>(storage, oracle, random);
}

TEST(Pack, StoresRandomTensorsOfOrder0To3InEveryStackOfLevelsAndEveryModeOrderAndType) {
  Random random(1);
  for (size_t order = 0; order <= 3; order++)
    for (const auto& levels : all_stacks(order))
      for (const auto& modes : all_mode_orders(order))
        for (ScalarType type : all_scalar_types)
          with_type(type, [&](auto zero) { check_random<decltype(zero)>(random, Format(levels, modes)); });
}

TEST(Pack, StoresRandomTensorsOfOrder4And5InRandomFormats) {
  Random random(2);
  for (size_t order : {4, 5}) {
    auto stacks = all_stacks(order);
    auto modes = all_mode_orders(order);
    for (const auto& stack : stacks)
      for (int trial = 0; trial < 3; trial++) {
        const auto& mode_order = modes[size_t(below(random, int64_t(modes.size())))];
        ScalarType type = all_scalar_types[below(random, int64_t(std::size(all_scalar_types)))];
        with_type(type, [&](auto zero) { check_random<decltype(zero)>(random, Format(stack, mode_order)); });
      }
  }
}

TEST(Pack, StoresLargeTensorsInParallelAsItStoresSmallOnes) {
  Random random(3);
  auto [entries, oracle] = random_entries<double>(random, {300, 500}, 110000);
  for (const char* format : {"ds:1,0", "ss", "uq", "sd"}) {
    SCOPED_TRACE(format);
    check_storage<double>(pack(entries.clone(), Format::parse(format)), oracle, random);
  }
}

TEST(Pack, MakesTheArraysThatTheTextbookShows) {
  // 1 . 2
  // . . .
  // 3 4 .
  Coordinates entries({3, 3}, ScalarType::Float64);
  entries.add({2, 1}, 4.0);
  entries.add({0, 2}, 2.0);
  entries.add({2, 0}, 3.0);
  entries.add({0, 0}, 1.0);
  auto list = [](const IndexArray& a) {
    std::vector<int64_t> out;
    for (int64_t i = 0; i < a.size(); i++) out.push_back(a[i]);
    return out;
  };
  using List = std::vector<int64_t>;
  Storage csr = pack(entries.clone(), CSR);
  EXPECT_EQ(list(csr.pattern().level(1)["pos"]), (List{0, 2, 2, 4}));
  EXPECT_EQ(list(csr.pattern().level(1)["crd"]), (List{0, 2, 0, 1}));
  EXPECT_EQ(csr.pattern().level(1)["crd"].width(), IndexWidth::Int32);
  EXPECT_EQ(std::vector(csr.values<double>().begin(), csr.values<double>().end()), (std::vector<double>{1, 2, 3, 4}));
  Storage csc = pack(entries.clone(), CSC);
  EXPECT_EQ(list(csc.pattern().level(1)["pos"]), (List{0, 2, 3, 4}));
  EXPECT_EQ(list(csc.pattern().level(1)["crd"]), (List{0, 2, 2, 0}));
  Storage dcsr = pack(entries.clone(), Format{Compressed, Compressed});
  EXPECT_EQ(list(dcsr.pattern().level(0)["crd"]), (List{0, 2}));
  EXPECT_EQ(list(dcsr.pattern().level(1)["pos"]), (List{0, 2, 4}));
  Storage coo = pack(entries.clone(), COO(2));
  EXPECT_EQ(list(coo.pattern().level(0)["pos"]), (List{0, 4}));
  EXPECT_EQ(list(coo.pattern().level(0)["crd"]), (List{0, 0, 2, 2}));
  EXPECT_EQ(list(coo.pattern().level(1)["crd"]), (List{0, 2, 0, 1}));
  auto values = [](const Storage& s) { return std::vector(s.values<double>().begin(), s.values<double>().end()); };
  Storage bitmap = pack(entries.clone(), Format{Dense, Bitmap});
  EXPECT_EQ(list(bitmap.pattern().level(1)["mask"]), (List{1, 0, 1, 0, 0, 0, 1, 1, 0}));
  EXPECT_EQ(values(bitmap), (std::vector<double>{1, 0, 2, 0, 0, 0, 3, 4, 0}));
  Storage bands = pack(entries.clone(), Format{Dense, Banded});
  EXPECT_EQ(list(bands.pattern().level(1)["pos"]), (List{0, 3, 3, 5}));
  EXPECT_EQ(list(bands.pattern().level(1)["lo"]), (List{0, 0, 0}));
  EXPECT_EQ(values(bands), (std::vector<double>{1, 0, 2, 3, 4}));
  Storage skyline = pack(entries.clone(), Format({Dense, Banded}, {1, 0}));
  EXPECT_EQ(list(skyline.pattern().level(1)["pos"]), (List{0, 3, 4, 5}));
  EXPECT_EQ(list(skyline.pattern().level(1)["lo"]), (List{0, 2, 0}));
  Storage rows = pack(entries.clone(), Format{Banded, Compressed});
  EXPECT_EQ(list(rows.pattern().level(0)["pos"]), (List{0, 3}));
  EXPECT_EQ(list(rows.pattern().level(1)["pos"]), (List{0, 2, 2, 4}));
}

TEST(Pack, AddsDuplicatesInTheOrderOfInsertion) {
  // (1e17 + 1) - 1e17 is 0 in doubles, (1e17 - 1e17) + 1 is 1.
  for (auto [values, sum] : {std::pair{std::vector{1e17, 1.0, -1e17}, 0.0}, {std::vector{1e17, -1e17, 1.0}, 1.0}}) {
    Coordinates entries({4, 4}, ScalarType::Float64);
    for (double v : values) {
      entries.add({3, 3}, 7.0);
      entries.add({1, 2}, v);
    }
    EXPECT_EQ(at<double>(pack(std::move(entries), CSR), {1, 2}), sum);
  }
}

TEST(Pack, KeepsExplicitZerosAndNaN) {
  Coordinates entries({5}, ScalarType::Float64);
  entries.add({1}, 0.0);
  entries.add({3}, std::nan(""));
  Storage storage = pack(std::move(entries), Format{Compressed});
  EXPECT_EQ(storage.nnz(), 2);
  EXPECT_TRUE(std::isnan(at<double>(storage, {3})));
}

TEST(Pack, WrapsIntegerSumsInsteadOfOverflowing) {
  Coordinates entries({1}, ScalarType::Int32);
  entries.add({0}, INT32_MAX);
  entries.add({0}, 1);
  EXPECT_EQ(at<int32_t>(pack(std::move(entries), Format{Dense}), {0}), INT32_MIN);
}

TEST(Pack, SortsWhereCoordinatesTogetherNeedMoreThan64Bits) {
  Random random(4);
  std::vector<int64_t> dims{int64_t(1) << 40, INT64_MAX, 3, int64_t(1) << 33};
  Coordinates entries(dims, ScalarType::Complex128);
  Oracle<std::complex<double>> oracle;
  std::vector<std::vector<int64_t>> places;
  for (int e = 0; e < 3000; e++) {
    std::vector<int64_t> place;
    for (int64_t dim : dims) place.push_back(e % 3 == 0 ? below(random, 3) : below(random, dim));
    std::complex<double> v(e, 1);
    entries.add(std::span<const int64_t>(place), v);
    oracle[place] += v;
  }
  for (const char* format : {"ssss", "uqqq:2,0,3,1", "uqss:3,2,1,0"})
    check_storage<std::complex<double>>(pack(entries.clone(), Format::parse(format)), oracle, random);
  Storage wide = pack(std::move(entries), CSF(4));
  EXPECT_EQ(wide.pattern().level(0)["crd"].width(), IndexWidth::Int64);
  EXPECT_EQ(wide.pattern().level(2)["crd"].width(), IndexWidth::Int32);
}

TEST(Pack, GivesAPieceTheRangesOfItsBounds) {
  Coordinates entries({10, 10}, ScalarType::Float64);
  entries.add({4, 9}, 1.0);
  entries.add({6, 5}, 2.0);
  Storage piece = pack(entries.clone(), CSR, {{4, 7}, {5, 10}});
  EXPECT_TRUE(bool(verify(piece)));
  EXPECT_EQ(piece.pattern().level(1)["pos"].size(), 4);
  EXPECT_EQ(piece.pattern().level(1)["crd"][0], 9);
  EXPECT_EQ(at<double>(piece, {6, 5}), 2.0);
  EXPECT_EQ(at<double>(piece, {0, 5}), 0.0);
  Storage dense = convert(piece, Format{Dense, Dense});
  EXPECT_EQ(dense.nnz(), 15);
  EXPECT_EQ(at<double>(dense, {4, 9}), 1.0);
  EXPECT_THROW(pack(std::move(entries), CSR, {{5, 7}, {0, 10}}), InternalError);
}

TEST(Pack, RefusesCoordinatesOutsideTheirDimensionByName) {
  Coordinates entries({3, 10}, ScalarType::Float64);
  entries.add({0, 9}, 1.0);
  entries.add({2, 10}, 1.0);
  try {
    pack(entries.clone(), CSR);
    FAIL();
  } catch (const UserError& error) {
    EXPECT_STREQ(error.what(),
                 "error: entry 1 at (2, 10): coordinate 10 lies outside dimension 1, whose size is 10\n"
                 "hint: coordinates of dimension 1 run from 0 to 9");
  }
  Coordinates negative({3}, ScalarType::Float64);
  negative.add({-1}, 1.0);
  EXPECT_THROW(pack(std::move(negative), Format{Dense}), UserError);
  Coordinates none({0}, ScalarType::Float64);
  none.add({0}, 1.0);
  EXPECT_THROW(pack(std::move(none), Format{Dense}), UserError);
}

TEST(Pack, RefusesDenseTensorsLargerThanMemoryAndSaysTheSize) {
  int64_t large = int64_t(1) << 40;
  for (auto [dims, format, said] : {std::tuple{std::vector<int64_t>{large}, "d", "takes 8.0 TiB"},
                                    {std::vector<int64_t>{large, large, large}, "ddd", "takes"},
                                    {std::vector<int64_t>{large, 5}, "ds", "takes 4.0 TiB"},
                                    {std::vector<int64_t>{1 << 20, 1 << 30}, "dd", "takes 8.0 PiB"}}) {
    Coordinates entries(dims, ScalarType::Float64);
    try {
      pack(std::move(entries), Format::parse(format));
      FAIL() << format;
    } catch (const UserError& error) {
      EXPECT_NE(std::string(error.what()).find(said), std::string::npos) << error.what();
      EXPECT_NE(std::string(error.what()).find("hint: a Compressed level"), std::string::npos);
    }
  }
}

TEST(Pack, RefusesAFormatOfAnotherOrder) {
  EXPECT_THROW(pack(Coordinates({3, 3}, ScalarType::Float64), Format{Dense}), UserError);
}

TEST(Convert, GoesBetweenAllFormatsOfOrder2) {
  Random random(5);
  auto [entries, oracle] = random_entries<float>(random, {6, 7}, 15);
  for (const auto& from : all_stacks(2))
    for (const auto& to : all_stacks(2))
      for (const auto& modes : all_mode_orders(2)) {
        Storage source = pack(entries.clone(), Format(from, modes));
        Storage target = convert(source, Format(to), Zeros::Drop);
        Oracle<float> found;
        for_each<float>(target, [&](std::span<const int64_t> at, float v) {
          if (v != 0) found[{at.begin(), at.end()}] = v;
        });
        Oracle<float> expected = oracle;
        std::erase_if(expected, [](const auto& entry) { return entry.second == 0; });
        EXPECT_EQ(found, expected) << Format(from, modes).str() << " -> " << Format(to).str();
      }
}

TEST(Convert, CountsEveryElementOfADenseTensorAsStored) {
  Storage dense = pack(Coordinates({3, 4}, ScalarType::Float64), Format{Dense, Dense});
  EXPECT_EQ(convert(dense, CSR).nnz(), 12);
  EXPECT_EQ(convert(dense, CSR, Zeros::Drop).nnz(), 0);
}

}  // namespace
}  // namespace spdistal
