#include "generate/generate.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "generate/hash.hpp"
#include "tensor/iterate.hpp"
#include "tensor/pack.hpp"

namespace spdistal {
namespace {

using Elements = std::map<std::vector<int64_t>, double>;

Elements elements(const Coordinates& entries) {
  Elements out;
  for (size_t e = 0; e < size_t(entries.size()); e++) {
    std::vector<int64_t> at;
    for (size_t d = 0; d < entries.order(); d++) at.push_back(entries.column(d)[e]);
    bool fresh = out.emplace(at, entries.values<double>()[e]).second;
    EXPECT_TRUE(fresh) << "an entry stands twice";
  }
  return out;
}

Coordinates make(const std::string& text, GeneratedPart part = {}) {
  return generate(Generator::parse(text), ScalarType::Float64, part);
}

std::vector<int64_t> row_lengths(const Coordinates& entries) {
  std::vector<int64_t> out(size_t(entries.dims()[0]));
  for (int64_t i : entries.column(0)) out[size_t(i)]++;
  return out;
}

bool is_symmetric(const Coordinates& entries) {
  Elements all = elements(entries);
  return std::all_of(all.begin(), all.end(), [&](const auto& entry) {
    auto other = all.find({entry.first[1], entry.first[0]});
    return other != all.end() && other->second == entry.second;
  });
}

TEST(Generators, GiveTheSameTensorInAnyNumberOfParts) {
  for (const char* text :
       {"banded,50,5", "banded,10,4", "uniform,40,30,6", "uniform,30,20,10,500", "uniform,9,8,7,6,300", "rmat,6,8",
        "rmat,6,8,permute", "rmat,5,4,0.45,0.22,0.22,seed=7", "mycielskian,6", "stencil7,4", "stencil27,4", "nlpkkt,3",
        "kmer,300", "kmer,300,0.1,seed=2", "powerlaw,30,20,10,500", "powerlaw,3000,20,40000", "rmat,12,30",
        "banded,5000,3", "kmer,5000"}) {
    SCOPED_TRACE(text);
    Coordinates all = make(text);
    Elements whole = elements(all);
    EXPECT_GT(whole.size(), 0u);
    for (int64_t parts : {2, 3, 7, 101}) {
      Elements together;
      for (int64_t part = 0; part < parts; part++) {
        Coordinates piece = make(text, {part, parts});
        EXPECT_EQ(piece.dims(), all.dims());
        EXPECT_TRUE(bool(piece.check()));
        Range rows = block(all.dims()[0], parts, part);
        for (int64_t i : piece.column(0)) ASSERT_TRUE(rows.contains(i));
        for (const auto& [at, value] : elements(piece)) ASSERT_TRUE(together.emplace(at, value).second);
      }
      EXPECT_EQ(together, whole);
    }
  }
}

TEST(Generators, GiveTheSameTensorEachTimeAndAnotherForAnotherSeed) {
  for (const char* text : {"uniform,40,30,6", "uniform,30,20,10,500", "rmat,6,8", "rmat,6,8,permute", "kmer,300",
                           "powerlaw,30,20,10,500"}) {
    EXPECT_EQ(elements(make(text)), elements(make(text)));
    EXPECT_EQ(elements(make(text)), elements(make(std::string(text) + ",seed=0")));
    EXPECT_NE(elements(make(text)), elements(make(std::string(text) + ",seed=1"))) << text;
  }
}

TEST(Mycielskian, HasThePublishedSizes) {
  struct {
    int64_t k, n, nnz, longest;
    double variance;
  } published[] = {{8, 191, 4720, 95, 275.6501},
                   {9, 383, 14542, 191, 888.8293},
                   {10, 767, 44392, 383, 2698.3970},
                   {11, 1535, 134710, 767, 7850.5934},
                   {12, 3071, 407200, 1535, 22141.8906}};
  for (const auto& [k, n, nnz, longest, variance] : published) {
    Coordinates graph = make("mycielskian," + std::to_string(k));
    EXPECT_EQ(graph.dims(), (std::vector<int64_t>{n, n}));
    EXPECT_EQ(graph.size(), nnz);
    std::vector<int64_t> rows = row_lengths(graph);
    EXPECT_EQ(*std::max_element(rows.begin(), rows.end()), longest);
    EXPECT_EQ(*std::min_element(rows.begin(), rows.end()), k - 1);
    double mean = double(nnz) / double(n), sum = 0;
    for (int64_t r : rows) sum += (double(r) - mean) * (double(r) - mean);
    EXPECT_NEAR(sum / double(n), variance, 1e-3);
  }
  EXPECT_TRUE(is_symmetric(make("mycielskian,8")));
}

TEST(Mycielskian, Of3IsTheCycleOf5) {
  // M2: 0-1. Copies 2, 3, apex 4: edges 0-1, 0-3, 1-2, 2-4, 3-4.
  Elements expected;
  for (auto [a, b] : {std::pair<int64_t, int64_t>{0, 1}, {0, 3}, {1, 2}, {2, 4}, {3, 4}})
    expected[{a, b}] = expected[{b, a}] = 1;
  EXPECT_EQ(elements(make("mycielskian,3")), expected);
}

TEST(Nlpkkt, HasThePublishedSizesAndIsSymmetric) {
  for (auto [n, size, nnz] : {std::tuple<int64_t, int64_t, int64_t>{16, 9728, 225696}, {24, 31104, 762080}}) {
    Coordinates matrix = make("nlpkkt," + std::to_string(n));
    EXPECT_EQ(matrix.dims(), (std::vector<int64_t>{size, size}));
    EXPECT_EQ(matrix.size(), nnz);
  }
  EXPECT_TRUE(is_symmetric(make("nlpkkt,5")));
  for (int64_t n = 1; n <= 6; n++) {
    int64_t line = 3 * n - 2;
    EXPECT_EQ(make("nlpkkt," + std::to_string(n)).size(),
              2 * line * line * line + n * n * n + 6 * n * n + 12 * line * line);
  }
}

TEST(Stencils, HaveAsManyEntriesAsTheFormulasSay) {
  for (int64_t n : {1, 2, 5, 12}) {
    Coordinates seven = make("stencil7," + std::to_string(n)), all = make("stencil27," + std::to_string(n));
    EXPECT_EQ(seven.dims()[0], n * n * n);
    EXPECT_EQ(seven.size(), 7 * n * n * n - 6 * n * n);
    EXPECT_EQ(all.size(), (3 * n - 2) * (3 * n - 2) * (3 * n - 2));
  }
  EXPECT_TRUE(is_symmetric(make("stencil7,4")));
  EXPECT_TRUE(is_symmetric(make("stencil27,4")));
  EXPECT_EQ(make("stencil7,0").size(), 0);
}

TEST(Banded, HasAsManyEntriesAsTheFormulaSays) {
  for (auto [n, b] : {std::pair<int64_t, int64_t>{100, 5}, {10, 0}, {7, 3}}) {
    Coordinates band = make("banded," + std::to_string(n) + "," + std::to_string(2 * b + 1));
    EXPECT_EQ(band.size(), n * (2 * b + 1) - b * (b + 1));
    for (size_t e = 0; e < size_t(band.size()); e++) EXPECT_LE(std::abs(band.column(0)[e] - band.column(1)[e]), b);
  }
}

TEST(Uniform, DrawsItsPlacesPerRow) {
  Coordinates matrix = make("uniform,2000,1000000,10");
  for (int64_t length : row_lengths(matrix)) {
    EXPECT_LE(length, 10);
    EXPECT_GE(length, 9);  // a place is drawn twice with probability 45 in a million
  }
  Coordinates full = make("uniform,10,3,100");
  EXPECT_EQ(full.size(), 30);
  EXPECT_EQ(make("uniform,10,0,5").size(), 0);
}

TEST(Rmat, FillsTheQuartersByTheirProbabilities) {
  Coordinates graph = make("rmat,10,4,a=0.5,b=0.25,c=0.25");
  double half = 512, quarters[4] = {};
  for (size_t e = 0; e < size_t(graph.size()); e++)
    quarters[2 * (double(graph.column(0)[e]) >= half) + (double(graph.column(1)[e]) >= half)]++;
  EXPECT_EQ(quarters[3], 0);  // nothing is left for the last quarter
  EXPECT_GT(quarters[1], 0.8 * quarters[2]);
  EXPECT_LT(quarters[1], 1.2 * quarters[2]);
}

TEST(Rmat, PermutedIsTheSameGraphUnderOtherNames) {
  auto sorted = [](std::vector<int64_t> lengths) {
    std::sort(lengths.begin(), lengths.end());
    return lengths;
  };
  EXPECT_EQ(sorted(row_lengths(make("rmat,9,8"))), sorted(row_lengths(make("rmat,9,8,permute"))));
  EXPECT_NE(row_lengths(make("rmat,9,8")), row_lengths(make("rmat,9,8,permute")));
}

TEST(Kmer, IsSymmetricWithDegreesAboutTwoAndAtMostEight) {
  Coordinates graph = make("kmer,100000");
  std::vector<int64_t> rows = row_lengths(graph);
  EXPECT_NEAR(double(graph.size()) / 100000, 2.175, 0.02);
  EXPECT_LE(*std::max_element(rows.begin(), rows.end()), 8);
  std::nth_element(rows.begin(), rows.begin() + 50000, rows.end());
  EXPECT_EQ(rows[50000], 2);
  EXPECT_TRUE(is_symmetric(make("kmer,2000")));
  for (int64_t n : {0, 1, 2, 5}) EXPECT_TRUE(is_symmetric(make("kmer," + std::to_string(n))));
}

TEST(Powerlaw, IsDenseAtTheFirstCoordinates) {
  Coordinates tensor = make("powerlaw,1000,800,600,20000");
  EXPECT_EQ(tensor.dims(), (std::vector<int64_t>{1000, 800, 600}));
  EXPECT_LE(tensor.size(), 20000);
  EXPECT_GT(tensor.size(), 15000);
  // u^3 < 1/8 where u < 1/2
  int64_t low = std::count_if(tensor.column(0).begin(), tensor.column(0).end(), [](int64_t i) { return i < 125; });
  EXPECT_NEAR(double(low) / double(tensor.size()), 0.5, 0.05);
}

TEST(Fills, AreFunctionsOfTheElementInAnyFormatTypeAndNumberOfParts) {
  std::vector<int64_t> dims{5, 4};
  for (const char* text : {"ones", "zeros", "random", "random,seed=3", "index"}) {
    Generator generator = Generator::parse(text);
    EXPECT_TRUE(generator.is_fill());
    Elements whole = elements(generate_fill(generator, dims, ScalarType::Float64));
    EXPECT_EQ(whole.size(), 20u);
    Elements together;
    for (int64_t part = 0; part < 3; part++)
      together.merge(elements(generate_fill(generator, dims, ScalarType::Float64, {part, 3})));
    EXPECT_EQ(together, whole);
    for (const char* format : {"dd", "dd:1,0", "sd"}) {
      Storage storage =
          pack(generate_fill(Generator::parse("zeros"), dims, ScalarType::Float64), Format::parse(format));
      fill(storage, generator);
      EXPECT_EQ(elements(unpack(storage)), whole);
    }
    Storage piece = pack(Coordinates(dims, ScalarType::Float64), Format{Dense, Dense}, {{2, 4}, {1, 3}});
    fill(piece, generator);
    for (const auto& [at, value] : elements(unpack(piece))) EXPECT_EQ(value, whole[at]);
  }
  Storage numbered = pack(Coordinates({2, 3}, ScalarType::Int32), Format{Dense, Dense});
  fill(numbered, Generator::parse("index"));
  EXPECT_EQ(at<int32_t>(numbered, {1, 2}), 5);
  EXPECT_EQ(generate_fill(Generator::parse("ones"), {}, ScalarType::Float32).values<float>()[0], 1);
}

TEST(Generators, GiveIntegersThatAreNotZeroAndBoolsThatAreTrue) {
  Coordinates integers = generate(Generator::parse("uniform,100,100,5"), ScalarType::Int32);
  std::set<int32_t> seen(integers.values<int32_t>().begin(), integers.values<int32_t>().end());
  EXPECT_EQ(*seen.begin(), 1);
  EXPECT_EQ(*seen.rbegin(), 9);
  Coordinates bools = generate(Generator::parse("banded,10,3"), ScalarType::Bool);
  for (bool b : bools.values<bool>()) EXPECT_TRUE(b);
  EXPECT_EQ(generate(Generator::parse("stencil7,2"), ScalarType::Complex64).values<std::complex<float>>()[0], 6.0f);
}

TEST(Permutation, IsABijectionWithItsInverse) {
  for (uint64_t n : {1, 2, 3, 10, 64, 1000, 4097}) {
    Permutation permute(n, n);
    std::set<uint64_t> images;
    for (uint64_t x = 0; x < n; x++) {
      EXPECT_LT(permute(x), n);
      EXPECT_EQ(permute.inverse(permute(x)), x);
      images.insert(permute(x));
    }
    EXPECT_EQ(images.size(), n);
  }
}

std::string refusal(const std::string& text) {
  try {
    make(text);
  } catch (const UserError& error) { return error.what(); }
  return "accepted";
}

TEST(Generators, TeachWhatTheyTake) {
  EXPECT_EQ(refusal("rmatt,20,16"),
            "error: there is no generator 'rmatt'\n  rmatt,20,16\n  ^^^^^\nhint: did you mean 'rmat'?");
  EXPECT_EQ(refusal("zebra"),
            "error: there is no generator 'zebra'\n  zebra\n  ^^^^^\nhint: the generators are banded, uniform, rmat, "
            "mycielskian, stencil7, stencil27, nlpkkt, kmer, powerlaw, ones, zeros, random and index");
  EXPECT_EQ(refusal("rmat,20"),
            "error: edges is missing\n  rmat,20\n         ^\nhint: it is written rmat,SCALE,EDGES[,a,b,c][,permute]");
  EXPECT_EQ(refusal("rmat,x,16"),
            "error: scale must be an integer, 0 to 40, not 'x'\n  rmat,x,16\n       ^\nhint: it is written "
            "rmat,SCALE,EDGES[,a,b,c][,permute]");
  EXPECT_EQ(refusal("rmat,99,16"),
            "error: scale must be an integer, 0 to 40, not '99'\n  rmat,99,16\n       ^^\nhint: it is written "
            "rmat,SCALE,EDGES[,a,b,c][,permute]");
  EXPECT_EQ(
      refusal("banded,10,3,4"),
      "error: '4' is one argument too many\n  banded,10,3,4\n              ^\nhint: it is written banded,N,BANDS");
  EXPECT_EQ(refusal("banded,10,size=3"),
            "error: 'size' is not something it takes\n  banded,10,size=3\n            ^^^^^^\nhint: it is written "
            "banded,N,BANDS");
  EXPECT_EQ(refusal("banded,n=10,n=3"),
            "error: 'n' is given twice\n  banded,n=10,n=3\n              ^^^\nhint: it is written banded,N,BANDS");
  EXPECT_EQ(refusal("banded,-1,3"),
            "error: n must be an integer, at least 0, not '-1'\n  banded,-1,3\n         ^^\nhint: it is written "
            "banded,N,BANDS");
  EXPECT_EQ(refusal("uniform,10,10"),
            "error: it takes at least 3 numbers, not 2\n  uniform,10,10\n               ^\nhint: it is written "
            "uniform,ROWS,COLUMNS,PER_ROW or uniform,SIZE,SIZE,SIZE,…,SAMPLES");
  EXPECT_NE(refusal("rmat,40,1000").find("generating 'rmat' takes"), std::string::npos);
  EXPECT_EQ(refusal("banded,bands=3,n=10"), "accepted");
  EXPECT_EQ(refusal(" rmat , 3 , 2 , permute"), "accepted");
}

}  // namespace
}  // namespace spdistal
