// What is left of variables inside loops whose values are known, as intervals: against the values that there are.
#include "notation/bounds.hpp"

#include <gtest/gtest.h>

#include "notation/tensor_var.hpp"

namespace spdistal::notation {
namespace {

constexpr int64_t huge = INT64_MAX;

Provenance of(std::vector<std::pair<IndexVar, int64_t>> roots, std::vector<Relation> relations) {
  Provenance out;
  for (const auto& [var, size] : roots) out.roots.push_back({var, Pieces(size)});
  out.relations = std::move(relations);
  return out;
}

Relation split(const IndexVar& i, const IndexVar& io, const IndexVar& ii, int64_t block) {
  return {.replaced = {{i, value_of(io) * number(block) + value_of(ii), Guard::Checked}},
          .made = {{io, ceil_div(size_of(i), number(block)), "o"}, {ii, number(block), "i"}}};
}

Relation fuse(const IndexVar& i, const IndexVar& j, const IndexVar& f) {
  return {.replaced = {{i, value_of(f) / size_of(j), Guard::Unneeded}, {j, value_of(f) % size_of(j), Guard::Unneeded}},
          .made = {{f, size_of(i) * size_of(j), "f"}}};
}

TEST(Bounds, AreExactForBlocks) {
  IndexVar i("i"), io("io"), ii("ii");
  Provenance provenance = of({{i, 10}}, {split(i, io, ii, 3)});
  Bounds bounds(provenance);
  EXPECT_EQ(bounds.size(io), 4);
  EXPECT_EQ(bounds.of(i, {{io, 1}}), (Range{3, 6}));
  EXPECT_EQ(bounds.of(i, {{io, 3}}), (Range{9, 10}));
  EXPECT_EQ(bounds.of(i, {{io, 3}, {ii, 1}}).size(), 0);
}

TEST(Bounds, OfABlockLargerThanAnythingAreThoseOfTheVariable) {
  IndexVar i("i"), io("io"), ii("ii");
  for (int64_t n : {int64_t(0), int64_t(6), int64_t(1) << 62}) {
    Provenance provenance = of({{i, n}}, {split(i, io, ii, huge)});
    Bounds bounds(provenance);
    EXPECT_EQ(bounds.size(io), n == 0 ? 0 : 1);
    EXPECT_EQ(bounds.of(i, {}).size(), n == 0 ? 0 : n) << n;
    if (n > 0) { EXPECT_EQ(bounds.of(i, {{io, 0}}), (Range{0, n})); }
  }
}

TEST(Bounds, OfAVariableThatIsFusedWithOneWithoutValuesAreItsOwnUnlessTheLoopIsKnown) {
  IndexVar i("i"), j("j"), f("f"), k("k");
  Provenance provenance = of({{i, 0}, {j, 3}, {k, 2}}, {fuse(i, j, f)});
  Bounds bounds(provenance);
  EXPECT_EQ(bounds.size(f), 0);
  EXPECT_EQ(bounds.of(j, {{k, 1}}), (Range{0, 3}));
  EXPECT_EQ(bounds.of(i, {{k, 1}}), (Range{0, 0}));
  EXPECT_EQ(bounds.of(j, {{f, 0}}).size(), 0);
}

// Rows of a matrix, cut by what it stores into blocks of 2, 0, 5 and 3.
struct Weighed {
  IndexVar i{"i"}, io{"io"}, ii{"ii"};
  TensorVar B{{Symbol("B"), ScalarType::Float64, {Extent(10), Extent(5)}, Format({Dense, Compressed})}};
  WeightedBlocks blocks{i, {Access{B, {i, IndexVar("j")}}}, Pieces(4)};
  Relation cut{.replaced = {{i, IndexExpr(BlockStart{blocks, value_of(io)}) + value_of(ii), Guard::Unneeded}},
               .made = {{io, number(4), "o"}, {ii, BlockSize{blocks, value_of(io)}, "i"}}};
  std::vector<int64_t> starts{0, 2, 2, 7, 10};

  Bounds bounds(const Provenance& provenance) const {
    return Bounds(provenance, {}, [this](const WeightedBlocks&) -> const std::vector<int64_t>& { return starts; });
  }
};

TEST(Bounds, AreExactForBlocksOfDifferentSizes) {
  Weighed w;
  Provenance provenance = of({{w.i, 10}}, {w.cut});
  Bounds bounds = w.bounds(provenance);
  EXPECT_EQ(bounds.size(w.io), 4);
  EXPECT_EQ(bounds.size(w.ii), 5) << "of the largest block";
  EXPECT_EQ(bounds.of(w.i, {}), (Range{0, 10}));
  for (int64_t k : {0, 2, 3})
    EXPECT_EQ(bounds.of(w.i, {{w.io, k}}), (Range{w.starts[size_t(k)], w.starts[size_t(k) + 1]})) << k;
  EXPECT_EQ(bounds.of(w.i, {{w.io, 1}}).size(), 0);
  EXPECT_EQ(bounds.of(w.i, {{w.io, 3}, {w.ii, 1}}), (Range{8, 9}));
  EXPECT_EQ(bounds.of(w.i, {{w.io, 3}, {w.ii, 4}}).size(), 0) << "the block is shorter than others";
  EXPECT_EQ(bounds.of(w.i, {{w.io, 4}}).size(), 0) << "there is no such block";
}

TEST(Bounds, AreExactForBlocksOfSuchBlocksAndForRunsOfThem) {
  Weighed w;
  IndexVar a("a"), b("b"), c("c"), d("d");
  Provenance inside = of({{w.i, 10}}, {w.cut, split(w.ii, a, b, 2)});
  EXPECT_EQ(w.bounds(inside).of(w.i, {{w.io, 2}, {a, 1}}), (Range{4, 6}));
  EXPECT_EQ(w.bounds(inside).of(w.i, {{w.io, 2}, {a, 2}}), (Range{6, 7}));
  EXPECT_EQ(w.bounds(inside).of(w.i, {{w.io, 0}, {a, 1}}).size(), 0);
  Provenance outside = of({{w.i, 10}}, {w.cut, split(w.io, c, d, 3)});
  Bounds runs = w.bounds(outside);
  EXPECT_EQ(runs.of(w.i, {{c, 0}}), (Range{0, 7}));
  EXPECT_EQ(runs.of(w.i, {{c, 1}}), (Range{7, 10}));
  EXPECT_EQ(runs.blocks(w.i, {{c, 1}}).numbers, (Range{3, 4}));
  EXPECT_EQ(runs.blocks(w.i, {{c, 1}}).values, (Range{7, 10}));
  EXPECT_EQ(runs.of(w.i, {{c, 1}, {d, 2}}).size(), 0) << "past the last block";
}

// Rows of a matrix in CSR have up to three positions. A loop that runs for every position of every value of k has 4 * 3
// turns at most: where a row has one position only, turn 2 stands for k = 2, where it has three for k = 0.
TEST(Bounds, HoldWhateverTheNumberOfPositionsInARowIs) {
  IndexVar i("i"), j("j"), k("k"), p("p"), f("f");
  TensorVar B({Symbol("B"), ScalarType::Float64, {Extent(6), Extent(5)}, Format({Dense, Compressed})});
  Levels row{Access{B, {i, j}}, 1, 1};
  Provenance provenance = of(
      {{i, 6}, {j, 5}, {k, 4}},
      {{.replaced = {{j, StoredCoordinate{row, value_of(p)}, Guard::Unneeded}}, .made = {{p, StoredCount{row}, "p"}}},
       fuse(k, p, f)});
  Bounds bounds(provenance, [](const Levels&) { return 3; });
  EXPECT_EQ(bounds.size(p), 3);
  EXPECT_EQ(bounds.size(f), 12);
  EXPECT_EQ(bounds.of(k, {{i, 0}, {f, 2}}), (Range{0, 3}));
  EXPECT_EQ(bounds.of(k, {{i, 0}, {f, 11}}), (Range{3, 4}));
  EXPECT_EQ(bounds.of(p, {{i, 0}, {f, 1}}), (Range{0, 2}));
  EXPECT_EQ(bounds.of(j, {{i, 0}, {f, 2}}), (Range{0, 5}));
}

// Rows of 4, 0, 3, 1 and 2 non-zeros, in blocks of two rows, whose positions are dealt out in two parts.
TEST(Bounds, OfPositionsInBlocksOfRowsBeginWhereTheirRowsDo) {
  const std::vector<int64_t> begins{0, 4, 4, 7, 8, 10};
  IndexVar i("i"), j("j"), io("io"), ii("ii"), f("f"), q("q"), fp("fp"), fo("fo"), fi("fi");
  TensorVar B({Symbol("B"), ScalarType::Float64, {5, 6}, Format({Dense, Compressed})});
  CoordinateBlock block{ii, value_of(io) * number(2), min(value_of(io) * number(2) + size_of(ii), size_of(i))};
  Levels rows{Access{B, {i, j}}, 0, 1, block}, all{rows.access, 0, 1};
  Relation walk{.replaced = {{f, StoredCoordinate{rows, value_of(q)}, Guard::Unneeded}},
                .made = {{q, StoredCount{all}, "q"}}};
  Relation from{.replaced = {{q, StoredBefore{rows} + value_of(fp), Guard::Unneeded}},
                .made = {{fp, StoredCount{rows}, "p"}}};
  Relation halves{.replaced = {{fp, value_of(fo) * size_of(fi) + value_of(fi), Guard::Checked}},
                  .made = {{fo, number(2), "o"}, {fi, ceil_div(size_of(fp), number(2)), "i"}}};
  Provenance provenance = of({{i, 5}, {j, 6}}, {split(i, io, ii, 2), fuse(ii, j, f), walk, from, halves});
  Bounds bounds(
      provenance, [](const Levels&) { return int64_t(10); }, {},
      [&](const Levels&, int64_t row) {
        int64_t before = begins[size_t(std::min<int64_t>(row, 5))];
        return Range{before, before + 1};
      });
  EXPECT_EQ(bounds.of(q, {{io, 0}}), (Range{0, 4}));
  EXPECT_EQ(bounds.of(q, {{io, 1}}), (Range{4, 8}));
  EXPECT_EQ(bounds.of(q, {{io, 2}}), (Range{8, 10}));
  EXPECT_EQ(bounds.of(q, {{io, 0}, {fo, 1}}), (Range{2, 4}));
  EXPECT_EQ(bounds.of(q, {{io, 2}, {fo, 1}}), (Range{9, 10}));
  EXPECT_EQ(bounds.of(i, {{io, 1}, {fo, 1}}), (Range{2, 4}));
  EXPECT_EQ(bounds.of(q, {}), (Range{0, 10}));
  EXPECT_EQ(bounds.positions_of_block(ii, {{io, 1}}), (Range{4, 8}));
  EXPECT_TRUE(provenance.bounded_by(q, io));
  EXPECT_FALSE(provenance.bounded_by(i, fo));
}

TEST(NumberedPlaces, OfDenseLevelsAreNumbersOfTheirCoordinates) {
  IndexVar i("i"), j("j"), f("f"), p("p");
  for (auto [format, numbered] : {std::pair{Format({Dense, Dense, Compressed}), true},
                                  {Format({Dense, Compressed, Dense}), false},
                                  {Format({Compressed, Dense, Compressed}), false}}) {
    TensorVar B({Symbol("B"), ScalarType::Float64, {4, 5, 6}, format});
    Levels levels{Access{B, {i, j, IndexVar("k")}}, 0, 1};
    Relation walk{.replaced = {{f, StoredCoordinate{levels, value_of(p)}, Guard::Unneeded}},
                  .made = {{p, StoredCount{levels}, "p"}}};
    Provenance provenance = number_places(of({{i, 4}, {j, 5}}, {fuse(i, j, f), walk}));
    EXPECT_EQ(provenance.bounded_by(i, p), numbered) << format.str();
    Bounds bounds(provenance, [](const Levels&) { return int64_t(20); });
    EXPECT_EQ(bounds.of(i, {{p, 7}}), (numbered ? Range{1, 2} : Range{0, 4})) << format.str();
    EXPECT_EQ(bounds.of(j, {{p, 7}}), (numbered ? Range{2, 3} : Range{0, 5})) << format.str();
  }
}

}  // namespace
}  // namespace spdistal::notation
