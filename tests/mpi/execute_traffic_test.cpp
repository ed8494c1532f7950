// What moves, counted by the report against counts from the definition: exactly the elements that a colour needs and does
// not hold, nothing where data and computation match, and nothing again while nothing changes.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "mpi/ranks.hpp"
#include "notation/arithmetic.hpp"
#include "reference/evaluate.hpp"
#include "support/elements.hpp"
#include "support/placed_program.hpp"

namespace spdistal {
namespace {

using runtime::Transport;
using test::block_of;
using test::PlacedProgram;
using test::PlacedRun;
using test::PlacedText;

using Coordinates = std::vector<std::vector<int64_t>>;

// The stored elements of a sparse tensor, in the order of a row-major format.
Coordinates stored(const reference::DenseArray& array) {
  Coordinates out;
  test::each_element(array.dims, [&](const std::vector<int64_t>& at, size_t position) {
    if (!notation::is_zero(array.values[position])) out.push_back(at);
  });
  return out;
}

// For each colour, the elements that it computes with.
std::vector<Coordinates> by_rows(const Coordinates& elements, int64_t rows, int64_t pieces) {
  std::vector<Coordinates> out(static_cast<size_t>(pieces));
  for (const auto& at : elements) out[size_t(block_of(rows, pieces, at[0]))].push_back(at);
  return out;
}
std::vector<Coordinates> by_position(const Coordinates& elements, int64_t pieces) {
  std::vector<Coordinates> out(static_cast<size_t>(pieces));
  for (size_t k = 0; k < elements.size(); k++)
    out[size_t(block_of(int64_t(elements.size()), pieces, int64_t(k)))].push_back(elements[k]);
  return out;
}

// Over all colours: how much the coordinates weigh that occur along a dimension of its elements but are in the block of
// another colour.
template <class F>
int64_t off_piece(const std::vector<Coordinates>& colours, size_t dim, int64_t size, F&& weight) {
  int64_t sum = 0;
  for (size_t c = 0; c < colours.size(); c++) {
    std::set<int64_t> occur;
    for (const auto& at : colours[c]) occur.insert(at[dim]);
    for (int64_t x : occur)
      if (block_of(size, int64_t(colours.size()), x) != int64_t(c)) sum += weight(x);
  }
  return sum;
}
int64_t off_piece(const std::vector<Coordinates>& colours, size_t dim, int64_t size) {
  return off_piece(colours, dim, size, [](int64_t) { return 1; });
}

constexpr int64_t bytes = sizeof(double);

// Runs a program on 2, 3, 4 and 7 pieces; `check` sees the data, the run and the number of pieces.
template <class F>
void on_machines(PlacedText text, F&& check) {
  runtime::testkit::on_ranks([&](Transport& t) {
    for (int64_t pieces : {2, 3, 4, 7}) {
      text.machine = std::to_string(pieces);
      PlacedProgram program = test::parse_placed(text);
      reference::Arrays data = test::draw_data(program, uint64_t(pieces), 5);
      PlacedRun run(t, program, data);
      run.compute();
      reference::Arrays wanted = data;
      reference::evaluate(program.assignment, wanted);
      EXPECT_TRUE(run.gathered_result() == wanted.at(program.assignment.lhs.tensor));
      SCOPED_TRACE(std::to_string(pieces) + " pieces on " + std::to_string(t.size()) + " ranks\n" +
                   plan::print(run.plan()));
      check(program, data, run, pieces);
      if (t.allreduce(int32_t(::testing::Test::HasFailure()), runtime::ReduceOp::Max)) return;
    }
  });
}

void expect_nothing_moved(const Report& report, const std::vector<std::string>& except = {}) {
  for (const std::string& access : report.accesses) {
    if (std::find(except.begin(), except.end(), access) != except.end()) continue;
    EXPECT_EQ(report.total(access).received, 0) << access;
    EXPECT_EQ(report.total(access).sent, 0) << access;
    EXPECT_EQ(report.total(access).copied, 0) << access;
  }
  if (!except.empty()) return;
  for (const char* kind : {"values", "reductions", "results", "redistribution"})
    EXPECT_EQ(report.bytes_sent(kind), 0) << kind;
}

const reference::DenseArray& array_of(const PlacedProgram& program, const reference::Arrays& data, const char* tensor) {
  return data.at(program.tensors.at(tensor));
}

// ---- SpMV ----

const std::string rows_of_spmv = "divide(i,io,ii,M.x); distribute(io); communicate({a,B,c},io)";
const std::string shares_of_spmv =
    "fuse(i,j,f); pos(f,fp,B(i,j)); divide(fp,fo,fi,M.x); distribute(fo); communicate({a,B,c},fo)";

PlacedText spmv(const std::string& place_of_b, const std::string& place_of_c, const std::string& schedule) {
  return {.statement = "a(i) = B(i,j) * c(j)",
          .formats = "B:ds",
          .sizes = {{"i", 20}, {"j", 23}},
          .distributions = {"a(x) -> M(x)", place_of_b, place_of_c},
          .schedule = schedule};
}

TEST(Traffic, SpMVByRowsMovesTheDistinctColumnsOfOtherPieces) {
  on_machines(spmv("B(x,y) -> M(x)", "c(x) -> M(x)", rows_of_spmv),
              [](auto& program, auto& data, auto& run, int64_t p) {
                auto colours = by_rows(stored(array_of(program, data, "B")), 20, p);
                Report report = run.report();
                EXPECT_EQ(report.total("c(j)").received, bytes * off_piece(colours, 1, 23));
                EXPECT_GT(report.total("c(j)").received, 0);
                expect_nothing_moved(report, {"c(j)"});
              });
}

TEST(Traffic, SpMVByNonZerosMovesTheDistinctColumnsAndTheRowsOfOtherPieces) {
  on_machines(spmv("B(x,y) fuse(x,y,f) -> M(~f)", "c(x) -> M(x)", shares_of_spmv),
              [](auto& program, auto& data, auto& run, int64_t p) {
                auto colours = by_position(stored(array_of(program, data, "B")), p);
                Report report = run.report();
                EXPECT_EQ(report.total("c(j)").received, bytes * off_piece(colours, 1, 23));
                EXPECT_EQ(report.total("a(i)").received, bytes * off_piece(colours, 0, 20));
                expect_nothing_moved(report, {"c(j)", "a(i)"});
              });
}

// Colours that share a block of rows send the rows that they have, not the block.
TEST(Traffic, SpMVByTheNonZerosOfBlocksOfRowsMovesTheRowsThatOccur) {
  runtime::testkit::on_ranks([&](Transport& t) {
    constexpr int64_t rows = 60, columns = 23;
    for (auto [x, y] : {std::pair<int64_t, int64_t>{2, 2}, {1, 5}, {3, 2}, {2, 7}}) {
      PlacedProgram program = test::parse_placed(
          {.statement = "a(i) = B(i,j) * c(j)",
           .formats = "B:ds",
           .sizes = {{"i", rows}, {"j", columns}},
           .machine = std::to_string(x) + "x" + std::to_string(y),
           .distributions = {"a(x) -> M(x,0)", "B(x,y) fuse(x,y,f) -> M(x,~f)", "c(x) -> M(y,0)"},
           .schedule = "divide(i,io,ii,M.x); fuse(ii,j,f); pos(f,fp,B(i,j)); divide(fp,fo,fi,M.y); distribute(io,fo); "
                       "communicate({a,B,c},fo)"});
      reference::Arrays data = test::draw_data(program, uint64_t(y), 5), wanted = data;
      reference::evaluate(program.assignment, wanted);
      PlacedRun run(t, program, data);
      run.compute();
      EXPECT_TRUE(run.gathered_result() == wanted.at(program.assignment.lhs.tensor));
      int64_t received = 0;
      for (const Coordinates& block : by_rows(stored(array_of(program, data, "B")), rows, x)) {
        std::vector<Coordinates> shares = by_position(block, y);
        for (size_t share = 1; share < shares.size(); share++) {
          std::set<int64_t> occur;
          for (const auto& at : shares[share]) occur.insert(at[0]);
          received += int64_t(occur.size());
        }
      }
      EXPECT_EQ(run.report().total("a(i)").received, bytes * received) << x << " x " << y << "\n"
                                                                       << plan::print(run.plan());
    }
  });
}

TEST(Traffic, IsNoneWhereDataAndComputationMatch) {
  on_machines(spmv("B(x,y) -> M(x)", "c(x) -> M(everywhere)", rows_of_spmv),
              [](auto&, auto&, auto& run, int64_t) { expect_nothing_moved(run.report()); });
}

TEST(Traffic, IsNoneForASumOfSparseMatricesByRows) {
  on_machines({.statement = "A(i,j) = B(i,j) + C(i,j) + D(i,j)",
               .formats = "A:ds B:ds C:ds D:ds",
               .sizes = {{"i", 20}, {"j", 15}},
               .distributions = {"A(x,y) -> M(x)", "B(x,y) -> M(x)", "C(x,y) -> M(x)", "D(x,y) -> M(x)"},
               .schedule = "divide(i,io,ii,M.x); distribute(io); communicate({A,B,C,D},io)"},
              [](auto&, auto&, auto& run, int64_t) { expect_nothing_moved(run.report()); });
}

TEST(Traffic, IsNoneTheSecondTimeWhileNothingChanges) {
  for (const char* place : {"B(x,y) -> M(x)", "B(x,y) -> M(y)"})
    on_machines(spmv(place, "c(x) -> M(x)", rows_of_spmv), [](auto&, auto&, auto& run, int64_t) {
      run.compute();
      expect_nothing_moved(run.report());
    });
}

TEST(Traffic, IsThatOfTheOperandWhoseValuesChanged) {
  on_machines(spmv("B(x,y) -> M(y)", "c(x) -> M(x)", rows_of_spmv),
              [](auto& program, auto& data, auto& run, int64_t p) {
                EXPECT_GT(run.report().total("B(i,j)").received, 0);
                run.fill("c", 3);
                run.compute();
                auto colours = by_rows(stored(array_of(program, data, "B")), 20, p);
                EXPECT_EQ(run.report().total("c(j)").received, bytes * off_piece(colours, 1, 23));
                expect_nothing_moved(run.report(), {"c(j)"});
                reference::Arrays wanted = data;
                for (Scalar& value : wanted.at(program.tensors.at("c")).values) value = Scalar(3.0);
                reference::evaluate(program.assignment, wanted);
                EXPECT_TRUE(run.gathered_result() == wanted.at(program.tensors.at("a")));
              });
}

TEST(Traffic, OfAMatrixInOtherPlacesIsItsElementsThatAreInOtherPieces) {
  on_machines(spmv("B(x,y) -> M(y)", "c(x) -> M(everywhere)", rows_of_spmv),
              [](auto& program, auto& data, auto& run, int64_t p) {
                int64_t moved = 0;
                for (const auto& at : stored(array_of(program, data, "B")))
                  moved += block_of(20, p, at[0]) != block_of(23, p, at[1]);
                EXPECT_EQ(run.report().total("B(i,j)").received, bytes * moved);
                expect_nothing_moved(run.report(), {"B(i,j)"});
              });
}

// ---- SpMM, SpGEMM ----

TEST(Traffic, SpMMByRowsMovesTheRowsOfTheDenseOperandThatOccur) {
  on_machines({.statement = "A(i,j) = B(i,k) * C(k,j)",
               .formats = "B:ds",
               .sizes = {{"i", 20}, {"k", 23}, {"j", 6}},
               .distributions = {"A(x,y) -> M(x)", "B(x,y) -> M(x)", "C(x,y) -> M(x)"},
               .schedule = "reorder(i,k,j); divide(i,io,ii,M.x); distribute(io); communicate({A,B,C},io)"},
              [](auto& program, auto& data, auto& run, int64_t p) {
                auto colours = by_rows(stored(array_of(program, data, "B")), 20, p);
                EXPECT_EQ(run.report().total("C(k,j)").received, bytes * 6 * off_piece(colours, 1, 23));
                expect_nothing_moved(run.report(), {"C(k,j)"});
              });
}

TEST(Traffic, AWindowMovesWhatOccursShifted) {
  on_machines({.statement = "a(i) = B(i,j) * c(j+2)",
               .formats = "B:ds",
               .sizes = {{"i", 20}, {"j", 23}},
               .distributions = {"a(x) -> M(x)", "B(x,y) -> M(x)", "c(x) -> M(x)"},
               .schedule = "divide(i,io,ii,M.x); distribute(io)"},
              [](auto& program, auto& data, auto& run, int64_t p) {
                auto shifted = stored(array_of(program, data, "B"));
                for (auto& at : shifted) at[1] += 2;
                EXPECT_EQ(run.report().total("c(j+2)").received, bytes * off_piece(by_rows(shifted, 20, p), 1, 25));
                expect_nothing_moved(run.report(), {"c(j+2)"});
              });
}

TEST(Traffic, SpMMByNonZerosMovesTheRowsThatOccurAndThoseThatAreShared) {
  on_machines({.statement = "A(i,j) = B(i,k) * C(k,j)",
               .formats = "B:ds",
               .sizes = {{"i", 20}, {"k", 23}, {"j", 6}},
               .distributions = {"A(x,y) -> M(x)", "B(x,y) fuse(x,y,f) -> M(~f)", "C(x,y) -> M(x)"},
               .schedule = "fuse(i,k,f); pos(f,fp,B(i,k)); divide(fp,fo,fi,M.x); distribute(fo); "
                           "communicate({A,B,C},fo)"},
              [](auto& program, auto& data, auto& run, int64_t p) {
                auto colours = by_position(stored(array_of(program, data, "B")), p);
                EXPECT_EQ(run.report().total("C(k,j)").received, bytes * 6 * off_piece(colours, 1, 23));
                EXPECT_EQ(run.report().total("A(i,j)").received, bytes * 6 * off_piece(colours, 0, 20));
                expect_nothing_moved(run.report(), {"C(k,j)", "A(i,j)"});
              });
}

TEST(Traffic, SpGemmByRowsMovesTheStoredElementsOfTheRowsThatOccur) {
  on_machines({.statement = "A(i,j) = B(i,k) * C(k,j)",
               .formats = "A:ds B:ds C:ds",
               .sizes = {{"i", 20}, {"k", 23}, {"j", 14}},
               .distributions = {"A(x,y) -> M(x)", "B(x,y) -> M(x)", "C(x,y) -> M(x)"},
               .schedule = "divide(i,io,ii,M.x); distribute(io); communicate({A,B,C},io)"},
              [](auto& program, auto& data, auto& run, int64_t p) {
                auto colours = by_rows(stored(array_of(program, data, "B")), 20, p);
                std::vector<int64_t> in_row(23);
                for (const auto& at : stored(array_of(program, data, "C"))) in_row[size_t(at[0])]++;
                auto weight = [&](int64_t k) { return in_row[size_t(k)]; };
                EXPECT_EQ(run.report().total("C(k,j)").received, bytes * off_piece(colours, 1, 23, weight));
                expect_nothing_moved(run.report(), {"C(k,j)"});
              });
}

// The columns of the dense operand, batch after batch: a piece holds one batch at a time, and no more moves than at once.
TEST(Traffic, BatchedSpMMHoldsABatchOfTheDenseOperandAtATime) {
  PlacedText whole{.statement = "A(i,j) = B(i,k) * C(k,j)",
                   .formats = "B:ds",
                   .sizes = {{"i", 20}, {"k", 23}, {"j", 12}},
                   .distributions = {"A(x,y) -> M(x)", "B(x,y) -> M(x)", "C(x,y) -> M(x)"},
                   .schedule = "reorder(i,k,j); divide(i,io,ii,M.x); distribute(io); communicate({A,B,C},io)"};
  PlacedText batched = whole;
  batched.schedule =
      "divide(i,io,ii,M.x); divide(j,jo,ji,4); reorder(io,jo,ii,k,ji); distribute(io); communicate({A,B},io); "
      "communicate({C},jo)";
  struct Batches {
    const PlacedText& text;
    int64_t columns;
  };
  for (const Batches& batches : {Batches{whole, 12}, Batches{batched, 3}})
    on_machines(batches.text, [&](auto& program, auto& data, auto& run, int64_t p) {
      auto colours = by_rows(stored(array_of(program, data, "B")), 20, p);
      PieceReport::Moved moved = run.report().total("C(k,j)");
      EXPECT_GT(moved.piece, 0);
      EXPECT_LE(moved.piece, bytes * 23 * batches.columns);
      EXPECT_EQ(moved.received, bytes * 12 * off_piece(colours, 1, 23));
      expect_nothing_moved(run.report(), {"C(k,j)"});
    });
}

// ---- SDDMM, MTTKRP ----

PlacedText sddmm(const std::string& sparse, const std::string& schedule) {
  return {.statement = "A(i,j) = B(i,j) * C(i,k) * D(k,j)",
          .formats = "A:ds B:ds",
          .sizes = {{"i", 20}, {"j", 23}, {"k", 5}},
          .distributions = {"A(x,y) " + sparse, "B(x,y) " + sparse, "C(x,y) -> M(x)", "D(x,y) -> M(y)"},
          .schedule = schedule};
}

TEST(Traffic, SddmmByRowsMovesTheColumnsOfTheSecondFactorThatOccur) {
  on_machines(sddmm("-> M(x)", "divide(i,io,ii,M.x); distribute(io); communicate({A,B,C,D},io)"),
              [](auto& program, auto& data, auto& run, int64_t p) {
                auto colours = by_rows(stored(array_of(program, data, "B")), 20, p);
                EXPECT_EQ(run.report().total("D(k,j)").received, bytes * 5 * off_piece(colours, 1, 23));
                expect_nothing_moved(run.report(), {"D(k,j)"});
              });
}

TEST(Traffic, SddmmByNonZerosMovesTheRowsOfBothFactorsThatOccur) {
  on_machines(sddmm("fuse(x,y,f) -> M(~f)",
                    "fuse(i,j,f); pos(f,fp,B(i,j)); divide(fp,fo,fi,M.x); distribute(fo); communicate({A,B,C,D},fo)"),
              [](auto& program, auto& data, auto& run, int64_t p) {
                auto colours = by_position(stored(array_of(program, data, "B")), p);
                EXPECT_EQ(run.report().total("C(i,k)").received, bytes * 5 * off_piece(colours, 0, 20));
                EXPECT_EQ(run.report().total("D(k,j)").received, bytes * 5 * off_piece(colours, 1, 23));
                EXPECT_EQ(run.report().total("B(i,j)").received, 0);
              });
}

PlacedText mttkrp(const std::string& place, const std::string& schedule, const std::string& format = "B:dss") {
  return {.statement = "A(i,l) = B(i,j,k) * C(j,l) * D(k,l)",
          .formats = format,
          .sizes = {{"i", 13}, {"j", 11}, {"k", 12}, {"l", 4}},
          .distributions = {"A(x,y) -> M(x)", "B(x,y,z) " + place, "C(x,y) -> M(x)", "D(x,y) -> M(x)"},
          .schedule = schedule};
}

// The result stays where it is computed, whether all of its rows are walked (a dense level) or only those that B stores.
TEST(Traffic, MttkrpBySlicesMovesTheRowsOfTheFactorsThatOccur) {
  for (const char* format : {"B:dss", "B:sss", "B:uqq"})
    on_machines(
        mttkrp("-> M(x)", "reorder(i,j,k,l); divide(i,io,ii,M.x); distribute(io); communicate({A,B,C,D},io)", format),
        [](auto& program, auto& data, auto& run, int64_t p) {
          auto colours = by_rows(stored(array_of(program, data, "B")), 13, p);
          EXPECT_EQ(run.report().total("C(j,l)").received, bytes * 4 * off_piece(colours, 1, 11));
          EXPECT_EQ(run.report().total("D(k,l)").received, bytes * 4 * off_piece(colours, 2, 12));
          expect_nothing_moved(run.report(), {"C(j,l)", "D(k,l)"});
        });
}

TEST(Traffic, MttkrpByNonZerosMovesTheRowsOfTheFactorsAndTheResultThatOccur) {
  on_machines(mttkrp("fuse(x,y,z,f) -> M(~f)",
                     "reorder(i,j,k,l); fuse(j,k,f1); fuse(i,f1,f2); pos(f2,fp,B(i,j,k)); divide(fp,fo,fi,M.x); "
                     "distribute(fo); communicate({A,B,C,D},fo)"),
              [](auto& program, auto& data, auto& run, int64_t p) {
                auto colours = by_position(stored(array_of(program, data, "B")), p);
                EXPECT_EQ(run.report().total("A(i,l)").received, bytes * 4 * off_piece(colours, 0, 13));
                EXPECT_EQ(run.report().total("C(j,l)").received, bytes * 4 * off_piece(colours, 1, 11));
                EXPECT_EQ(run.report().total("D(k,l)").received, bytes * 4 * off_piece(colours, 2, 12));
                EXPECT_EQ(run.report().total("B(i,j,k)").received, 0);
              });
}

}  // namespace
}  // namespace spdistal
