// The distributed matrix products of the literature as schedules: right, and with the communication that theory says.
//
// n x n matrices in tiles of (n/g) x (n/g), w = 8 (n/g)^2 bytes each. A tile that a piece holds itself does not move, nor
// does one of another piece on the same rank: it is read where it is. Theory has a rank for every piece.
#include <gtest/gtest.h>

#include "machine/parse.hpp"
#include "mpi/ranks.hpp"
#include "reference/evaluate.hpp"
#include "support/placed_program.hpp"

namespace spdistal {
namespace {

using runtime::Transport;
using test::PlacedProgram;
using test::PlacedRun;
using test::PlacedText;

const std::string summa =
    "divide(i,io,ii,M.x); divide(j,jo,ji,M.y); divide(k,ko,ki,M.x); reorder(io,jo,ko,ii,ji,ki); "
    "distribute({io,jo}); communicate({A},jo); communicate({B,C},ko)";
const std::string cannon =
    "divide(i,io,ii,M.x); divide(j,jo,ji,M.y); divide(k,ko,ki,M.x); reorder(io,jo,ko,ii,ji,ki); "
    "rotate(ko,{io,jo},kos); distribute({io,jo}); communicate({A},jo); communicate({B,C},kos)";
const std::string johnson =
    "divide(i,io,ii,M.x); divide(j,jo,ji,M.y); divide(k,ko,ki,M.z); reorder(io,jo,ko,ii,ji,ki); "
    "distribute({io,jo,ko}); communicate({A,B,C},ko)";
// Every layer of the machine takes a share of the steps of Cannon's algorithm.
std::string layered(int steps) {
  return "divide(i,io,ii,M.x); divide(j,jo,ji,M.y); divide(k,ko,ki,M.z); divide(ki,kio,kii," + std::to_string(steps) +
         "); reorder(io,jo,ko,kio,ii,ji,kii); rotate(kio,{io,jo},kios); distribute({io,jo,ko}); communicate({A},ko); "
         "communicate({B,C},kios)";
}

PlacedText product(int64_t n, const std::string& machine, std::vector<std::string> places,
                   const std::string& schedule) {
  return {.statement = "A(i,j) = B(i,k) * C(k,j)",
          .sizes = {{"i", n}, {"j", n}, {"k", n}},
          .machine = machine,
          .distributions = std::move(places),
          .schedule = schedule};
}
const std::vector<std::string> in_tiles = {"A(x,y) -> M(x,y)", "B(x,y) -> M(x,y)", "C(x,y) -> M(x,y)"};
const std::vector<std::string> on_the_first_layer = {"A(x,y) -> M(x,y,0)", "B(x,y) -> M(x,y,0)", "C(x,y) -> M(x,y,0)"};

struct Volumes {
  int64_t A, B, C;  // tiles, all pieces together
};

Report run_right(Transport& t, const PlacedText& text) {
  PlacedProgram program = test::parse_placed(text);
  reference::Arrays data = test::draw_data(program, 1);
  PlacedRun run(t, program, data);
  run.compute();
  reference::evaluate(program.assignment, data);
  EXPECT_TRUE(run.gathered_result() == data.at(program.assignment.lhs.tensor));
  return run.report();
}

// `of_piece(report)` looks at one piece.
template <class F>
void check_volumes(const PlacedText& text, int64_t tile_bytes, const Volumes& tiles, F&& of_piece) {
  int64_t pieces = 1;
  Machine machine = parse_machine(text.machine);
  for (const Extent& extent : machine.levels()[0].extents()) pieces *= extent.value().value();
  runtime::testkit::on_so_many_ranks(int(pieces), [&](Transport& t) {
    Report report = run_right(t, text);
    EXPECT_EQ(report.total("A(i,j)").received, tile_bytes * tiles.A);
    EXPECT_EQ(report.total("B(i,k)").received, tile_bytes * tiles.B);
    EXPECT_EQ(report.total("C(k,j)").received, tile_bytes * tiles.C);
    for (PieceReport& piece : report.pieces) of_piece(piece);
  });
  // With fewer ranks: no more, and only what crosses between them.
  runtime::testkit::on_ranks([&](Transport& t) {
    Report report = run_right(t, text);
    EXPECT_EQ(report.total("A(i,j)").received, tile_bytes * tiles.A);
    EXPECT_LE(report.total("B(i,k)").received, tile_bytes * tiles.B);
    EXPECT_LE(report.total("C(k,j)").received, tile_bytes * tiles.C);
    EXPECT_EQ(report.total("B(i,k)").received, report.total("B(i,k)").between_ranks);
    EXPECT_EQ(report.total("C(k,j)").received, report.total("C(k,j)").between_ranks);
  });
}
void check_volumes(const PlacedText& text, int64_t tile_bytes, const Volumes& tiles) {
  check_volumes(text, tile_bytes, tiles, [](PieceReport&) {});
}

// ---- two dimensions: piece (x,y) multiplies tile row x of B with tile column y of C, one tile of each at a time ----

// In step s everybody in row x takes tile (x,s) of B, and everybody in column y tile (s,y) of C. Of the g tiles of its row
// a piece holds one: it receives (g-1)/g of its block row of B, and likewise of its block column of C. All pieces:
// g^2 (g-1) tiles of each. Nothing of A moves.
class TwoDimensional : public ::testing::TestWithParam<int64_t> {};

TEST_P(TwoDimensional, SummaMovesTheRestOfABlockRowAndABlockColumnToEveryPiece) {
  int64_t g = GetParam(), n = 4 * g, w = 8 * 4 * 4;
  std::string machine = std::to_string(g) + "x" + std::to_string(g);
  check_volumes(product(n, machine, in_tiles, summa), w, {0, g * g * (g - 1), g * g * (g - 1)}, [&](PieceReport& p) {
    EXPECT_EQ(p.moved["B(i,k)"].received, (g - 1) * w);
    EXPECT_EQ(p.moved["C(k,j)"].received, (g - 1) * w);
    EXPECT_EQ(p.moved["B(i,k)"].sent, (g - 1) * w);
    EXPECT_EQ(p.moved["C(k,j)"].sent, (g - 1) * w);
  });
}

// In step s piece (x,y) takes the tiles with k = x + y + s mod g: each tile is at one piece at a time, and over all steps
// every piece has seen what SUMMA shows it.
TEST_P(TwoDimensional, CannonMovesAsMuchAsSumma) {
  int64_t g = GetParam(), n = 4 * g, w = 8 * 4 * 4;
  std::string machine = std::to_string(g) + "x" + std::to_string(g);
  check_volumes(product(n, machine, in_tiles, cannon), w, {0, g * g * (g - 1), g * g * (g - 1)}, [&](PieceReport& p) {
    EXPECT_EQ(p.moved["B(i,k)"].received, (g - 1) * w);
    EXPECT_EQ(p.moved["C(k,j)"].received, (g - 1) * w);
  });
}

// What each step moves is found once; later runs bring other values the same way. Of sparse tiles the patterns stay.
TEST(Steps, ArePlannedOnceWhilePatternsStand) {
  for (const char* formats : {"", "B:ds", "A:ds B:ds C:ds", "B:uq C:ss"})
    for (const std::string& schedule : {summa, cannon}) {
      PlacedText text = product(16, "2x2", in_tiles, schedule);
      text.formats = formats;
      PlacedProgram program = test::parse_placed(text);
      runtime::testkit::on_ranks([&](Transport& t) {
        reference::Arrays data = test::draw_data(program, 1, 2);  // patterns fit beside the homes
        PlacedRun run(t, program, data);
        for (int repeat = 0; repeat < 3; repeat++) {
          const notation::TensorVar& C = program.tensors.at("C");
          if (repeat > 0 && C.format().is_dense()) {
            run.fill("C", repeat);
            for (Scalar& value : data.at(C).values) value = Scalar(double(repeat));
          }
          run.compute();
          reference::Arrays wanted = data;
          reference::evaluate(program.assignment, wanted);
          EXPECT_TRUE(run.gathered_result() == wanted.at(program.assignment.lhs.tensor))
              << formats << ", run " << repeat;
          EXPECT_EQ(run.report().planned, repeat == 0 ? 4 : 0)
              << "two steps of two operands, " << formats << " on " << t.size();
        }
      });
    }
}

// The first run has kernels to compile; later ones compute chunk by chunk while the tiles of the next step are on their way.
TEST(Steps, ComeWhileTheOneBeforeComputes) {
  for (const char* formats : {"", "B:ds", "B:ss C:ss"})
    for (const std::string& schedule : {summa, cannon}) {
      PlacedText text = product(16, "2x2", in_tiles, schedule);
      text.formats = formats;
      PlacedProgram program = test::parse_placed(text);
      runtime::testkit::on_ranks([&](Transport& t) {
        PlacedRun run(t, program, test::draw_data(program, 1, 2));
        for (int repeat = 0; repeat < 3; repeat++) {
          run.compute();
          bool comes = t.size() > 1 && repeat > 0;
          EXPECT_EQ(run.report().overlapped > 0, comes) << formats << ", run " << repeat << " on " << t.size();
        }
      });
    }
}

// One goes home in each step that cuts it, once the steps inside of that are through, and begins anew with what reductions begin with.
TEST(Steps, OfAResultThatTheyCutEachTakeTheirPartHome) {
  const char* batches =
      "divide(i,io,ii,2); divide(j,jo,ji,3); reorder(io,jo,ii,k,ji); distribute(io); communicate({A,C},jo)";
  const char* nested =
      "divide(i,io,ii,2); divide(j,jo,ji,3); divide(k,ko,ki,2); reorder(io,jo,ko,ii,ki,ji); distribute(io); "
      "communicate({A},jo); communicate({B,C},ko)";
  auto expect_right = [](const char* statement, const char* formats, const char* schedule) {
    PlacedText text{.statement = statement,
                    .formats = formats,
                    .sizes = {{"i", 9}, {"j", 7}, {"k", 8}},
                    .machine = "2",
                    .schedule = schedule};
    runtime::testkit::on_ranks([&](Transport& t) { EXPECT_EQ(test::find_fault(t, text, 3), ""); });
  };
  for (const char* schedule : {batches, nested}) {
    for (const char* formats : {"", "B:ds", "A:ds B:ds C:ds"})
      expect_right("A(i,j) = B(i,k) * C(k,j)", formats, schedule);
    expect_right("A(i,j) = min(k, B(i,k) + C(k,j))", "", schedule);
  }
}

// Sizes that pieces do not divide: the last blocks are smaller, or there are none.
TEST_P(TwoDimensional, ProductsAreRightForAllSizes) {
  std::string machine = std::to_string(GetParam()) + "x" + std::to_string(GetParam());
  for (const std::string& schedule : {summa, cannon})
    runtime::testkit::on_ranks([&](Transport& t) {
      for (auto [i, j, k] : {std::tuple{7, 5, 8}, {1, 4, 2}, {4, 1, 1}}) {
        PlacedText text = product(0, machine, in_tiles, schedule);
        text.sizes = {{"i", i}, {"j", j}, {"k", k}};
        std::string fault = test::find_fault(t, text, 1);
        EXPECT_TRUE(fault.empty()) << fault;
      }
    });
}

INSTANTIATE_TEST_SUITE_P(Grids, TwoDimensional, ::testing::Values(2, 3),
                         [](const auto& g) { return std::to_string(g.param) + "x" + std::to_string(g.param); });

// Operands that are sparse, on the same grid and with the same steps.
TEST(Products, SparseSummaAndCannonAreRight) {
  for (const std::string& schedule : {summa, cannon})
    for (const char* formats : {"B:ds", "A:ds B:ds C:ds", "A:ss B:ss C:ds"})
      runtime::testkit::on_ranks([&](Transport& t) {
        PlacedText text = product(7, "2x2", in_tiles, schedule);
        text.formats = formats;
        text.schedule = schedule;
        std::string fault = test::find_fault(t, text, 1);
        EXPECT_TRUE(fault.empty()) << fault;
      });
}

// ---- three dimensions: piece (x,y,z) multiplies tile (x,z) of B with tile (z,y) of C ----

// B lives where y = 0, C where x = 0, A where z = 0. Tile (x,z) of B goes from (x,0,z) to the g - 1 other pieces along y,
// that of C likewise along x, and tile (x,y) of A is summed from the g - 1 others along z: g^2 (g-1) tiles of each.
TEST(Products, JohnsonBroadcastsTheOperandsAlongOneDimensionEachAndReducesTheResultAlongTheThird) {
  int64_t g = 2, n = 8, w = 8 * 4 * 4;
  std::vector<std::string> faces = {"A(x,y) -> M(x,y,0)", "B(x,z) -> M(x,0,z)", "C(z,y) -> M(0,y,z)"};
  check_volumes(product(n, "2x2x2", faces, johnson), w, {g * g * (g - 1), g * g * (g - 1), g * g * (g - 1)},
                [&](PieceReport& p) {
                  EXPECT_LE(p.moved["B(i,k)"].received, w);
                  EXPECT_LE(p.moved["C(k,j)"].received, w);
                });
}

// All tensors live on the first of c = 2 layers. Piece (x,y,z) takes the g/c tiles (x,t) of B with t in share z of the
// sum, from (x,t,0). Of 2x2x2 pieces each takes one tile, t = z: all but those with t = y on the first layer, which are
// (x,0,0), receive it: 8 - 2 = 6 tiles of B, and 6 of C. The second layer sends its 4 tiles of A to the first.
TEST(Products, TwoAndAHalfDimensionsMoveWhatTheFirstLayerDoesNotHave) {
  check_volumes(product(8, "2x2x2", on_the_first_layer, layered(1)), 8 * 4 * 4, {4, 6, 6});
}
// The same in two steps of half a tile each.
TEST(Products, StepsOfALayerMoveNoMore) {
  check_volumes(product(8, "2x2x2", on_the_first_layer, layered(2)), 8 * 4 * 4, {4, 6, 6});
}
// Of 4x4x2 pieces each takes two tiles. On the first layer t is 0 and 1, and the 8 pieces with y = 0 or 1 have one of
// them: 2 * 16 - 8 tiles; on the second 2 * 16: 56 of B, and 56 of C. The second layer sends 16 tiles of A.
TEST(Products, TwoAndAHalfDimensionsOnALargerGrid) {
  check_volumes(product(8, "4x4x2", on_the_first_layer, layered(2)), 8 * 2 * 2, {16, 56, 56});
}

TEST(Products, InThreeDimensionsAreRightForAllSizes) {
  for (const std::string& schedule : {johnson, layered(2)})
    runtime::testkit::on_ranks([&](Transport& t) {
      for (auto [i, j, k] : {std::tuple{7, 5, 9}, {1, 4, 2}, {3, 1, 1}}) {
        PlacedText text = product(0, "2x2x2", on_the_first_layer, schedule);
        text.sizes = {{"i", i}, {"j", j}, {"k", k}};
        std::string fault = test::find_fault(t, text, 1);
        EXPECT_TRUE(fault.empty()) << fault;
      }
    });
}

}  // namespace
}  // namespace spdistal
