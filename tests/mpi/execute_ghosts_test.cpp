// Dense operands of which colours need what occurs elsewhere: what a colour owns is read where it lies, and of all else there
// is a place for what occurs and nothing more, counted by the report against counts from the definition.
#include <gtest/gtest.h>

#include <numeric>
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

// Of a dense operand that a colour comes to by what a tensor stores along a dimension.
struct Found {
  const char* access;  // "c(j)"
  size_t dim;          // of the tensor B
  int64_t elements;    // of the operand, for each coordinate
};

// What is dealt out of B.
enum class Dealt : uint8_t { Rows, NonZeros };

// By colour: the coordinates along a dimension of B that occur in its rows, or its share of the non-zeros, and are not in its own
// block.
std::vector<int64_t> ghosts(const reference::DenseArray& B, size_t dim, int64_t pieces, Dealt dealt) {
  auto stored = std::ranges::count_if(B.values, [](const Scalar& value) { return !notation::is_zero(value); });
  std::vector<std::set<int64_t>> occur(static_cast<size_t>(pieces));
  int64_t next = 0;
  test::each_element(B.dims, [&](const std::vector<int64_t>& at, size_t position) {
    if (notation::is_zero(B.values[position])) return;
    int64_t number = next++;
    int64_t colour = dealt == Dealt::Rows ? block_of(B.dims[0], pieces, at[0]) : block_of(stored, pieces, number);
    if (block_of(B.dims[dim], pieces, at[dim]) != colour) occur[size_t(colour)].insert(at[dim]);
  });
  std::vector<int64_t> out;
  for (const auto& set : occur) out.push_back(int64_t(set.size()));
  return out;
}

void expect_right(const PlacedProgram& program, reference::Arrays data, PlacedRun& run) {
  reference::evaluate(program.assignment, data);
  EXPECT_TRUE(run.gathered_result() == data.at(program.assignment.lhs.tensor));
}

std::vector<const std::byte*> memory_of(const Home& home) {
  std::vector<const std::byte*> out;
  for (int64_t q = home.colours().lo; q < home.colours().hi; q++) out.push_back(home.piece(q).value_address());
  return out;
}

void fill_data(reference::Arrays& data, const PlacedProgram& program, const std::string& tensor, double value) {
  for (Scalar& element : data.at(program.tensors.at(tensor)).values) element = Scalar(value);
}

void expect_ghosts(PlacedText text, const std::vector<Found>& operands, Dealt dealt = Dealt::Rows) {
  runtime::testkit::on_ranks([&](Transport& t) {
    for (int64_t pieces : {2, 3, 4, 7})
      for (int64_t one_in : {2, 9}) {
        text.machine = std::to_string(pieces);
        PlacedProgram program = test::parse_placed(text);
        reference::Arrays data = test::draw_data(program, uint64_t(pieces), one_in);
        const reference::DenseArray& B = data.at(program.tensors.at("B"));
        PlacedRun run(t, program, data);
        SCOPED_TRACE(text.statement + " " + std::to_string(pieces) + " pieces on " + std::to_string(t.size()));
        std::vector<std::vector<const std::byte*>> first;
        for (int round = 0; round < 3; round++) {
          run.compute();
          expect_right(program, data, run);
          Report report = run.report();
          for (const Found& operand : operands) {
            std::vector<int64_t> wanted = ghosts(B, operand.dim, pieces, dealt);
            int64_t bytes = int64_t(sizeof(double)) * operand.elements, sum = 0;
            for (int64_t c = 0; c < pieces; c++) {
              sum += wanted[size_t(c)];
              auto moved = report.pieces[size_t(c)].moved[operand.access];
              EXPECT_EQ(moved.piece, bytes * wanted[size_t(c)]) << operand.access << " of colour " << c;
            }
            EXPECT_EQ(report.total(operand.access).received, bytes * sum) << operand.access;
            EXPECT_EQ(report.total(operand.access).copied, 0) << operand.access;
            std::string tensor(operand.access, 1);
            if (round == 0) first.push_back(memory_of(run.home(tensor)));
            else EXPECT_EQ(memory_of(run.home(tensor)), first[size_t(&operand - operands.data())]);
            run.fill(tensor, double(round + 2));
            fill_data(data, program, tensor, double(round + 2));
          }
          if (t.allreduce(int32_t(::testing::Test::HasFailure()), runtime::ReduceOp::Max)) return;
        }
      }
  });
}

const std::string by_rows = "divide(i,io,ii,M.x); distribute(io); communicate({A,B,C,D},io)";

TEST(Ghosts, OfAVectorAreTheColumnsThatOccurInOtherBlocks) {
  expect_ghosts({.statement = "a(i) = B(i,j) * c(j)",
                 .formats = "B:ds",
                 .sizes = {{"i", 20}, {"j", 23}},
                 .distributions = {"a(x) -> M(x)", "B(x,y) -> M(x)", "c(x) -> M(x)"},
                 .schedule = "divide(i,io,ii,M.x); distribute(io); communicate({a,B,c},io)"},
                {{"c(j)", 1, 1}});
}

TEST(Ghosts, OfNonZerosThatAreDealtOutAreWhatOccursInThem) {
  expect_ghosts(
      {.statement = "a(i) = B(i,j) * c(j)",
       .formats = "B:ds",
       .sizes = {{"i", 20}, {"j", 23}},
       .distributions = {"a(x) -> M(x)", "B(x,y) fuse(x,y,f) -> M(~f)", "c(x) -> M(x)"},
       .schedule = "fuse(i,j,f); pos(f,fp,B(i,j)); divide(fp,fo,fi,M.x); distribute(fo); communicate({a,B,c},fo)"},
      {{"c(j)", 1, 1}}, Dealt::NonZeros);
  expect_ghosts({.statement = "a(i) = B(i,j,k) * c(k)",
                 .formats = "B:dss",
                 .sizes = {{"i", 9}, {"j", 8}, {"k", 23}},
                 .distributions = {"a(x) -> M(x)", "B(x,y,z) fuse(x,y,z,f) -> M(~f)", "c(x) -> M(x)"},
                 .schedule = "fuse(i,j,f); fuse(f,k,g); pos(g,gp,B(i,j,k)); divide(gp,go,gi,M.x); distribute(go); "
                             "communicate({a,B,c},go)"},
                {{"c(k)", 2, 1}}, Dealt::NonZeros);
  expect_ghosts({.statement = "A(i,l) = B(i,j,k) * C(j,l) * D(k,l)",
                 .formats = "B:dss",
                 .sizes = {{"i", 13}, {"j", 11}, {"k", 12}, {"l", 4}},
                 .distributions = {"A(x,y) -> M(x)", "B(x,y,z) -> M(x)", "C(x,y) -> M(x)", "D(x,y) -> M(x)"},
                 .schedule = "fuse(j,k,f); fuse(i,f,g); pos(g,gp,B(i,j,k)); divide(gp,go,gi,M.x); distribute(go); "
                             "communicate({A,B,C,D},go)"},
                {{"C(j,l)", 1, 4}, {"D(k,l)", 2, 4}}, Dealt::NonZeros);
}

// What colours compute of rows that live elsewhere lies around their own, which are computed where they live.
void expect_ghosts_of_result(PlacedText text, const std::string& result, const std::string& operand, int64_t elements) {
  runtime::testkit::on_ranks([&](Transport& t) {
    for (int64_t pieces : {2, 3, 4, 7}) {
      text.machine = std::to_string(pieces);
      PlacedProgram program = test::parse_placed(text);
      reference::Arrays data = test::draw_data(program, uint64_t(pieces), 3);
      std::vector<int64_t> rows = ghosts(data.at(program.tensors.at("B")), 0, pieces, Dealt::NonZeros);
      int64_t bytes = int64_t(sizeof(double)) * elements * std::accumulate(rows.begin(), rows.end(), int64_t(0));
      PlacedRun run(t, program, data);
      SCOPED_TRACE(text.statement + " " + std::to_string(pieces) + " pieces on " + std::to_string(t.size()));
      std::vector<const std::byte*> first;
      for (int round = 0; round < 3; round++) {
        run.compute();
        expect_right(program, data, run);
        PieceReport::Moved moved = run.report().total(result);
        EXPECT_EQ(moved.received, bytes);
        EXPECT_EQ(moved.reduced, bytes);
        EXPECT_EQ(moved.copied, 0);
        if (round == 0) first = memory_of(run.result());
        else EXPECT_EQ(memory_of(run.result()), first);
        run.fill(operand, double(round + 2));
        fill_data(data, program, operand, double(round + 2));
      }
      if (t.allreduce(int32_t(::testing::Test::HasFailure()), runtime::ReduceOp::Max)) return;
    }
  });
}

TEST(Ghosts, OfResultsThatAreAddedUpAreTheRowsOfOtherBlocks) {
  expect_ghosts_of_result(
      {.statement = "a(i) = B(i,j) * c(j)",
       .formats = "B:ds",
       .sizes = {{"i", 20}, {"j", 23}},
       .distributions = {"a(x) -> M(x)", "B(x,y) -> M(x)", "c(x) -> M(x)"},
       .schedule = "fuse(i,j,f); pos(f,fp,B(i,j)); divide(fp,fo,fi,M.x); distribute(fo); communicate({a,B,c},fo)"},
      "a(i)", "c", 1);
  expect_ghosts_of_result(
      {.statement = "A(i,k) = B(i,j) * C(j,k)",
       .formats = "B:ds",
       .sizes = {{"i", 20}, {"j", 23}, {"k", 300}},
       .distributions = {"A(x,y) -> M(x)", "B(x,y) -> M(x)", "C(x,y) -> M(x)"},
       .schedule = "reorder(i,j,k); fuse(i,j,f); pos(f,fp,B(i,j)); divide(fp,fo,fi,M.x); distribute(fo); "
                   "communicate({A,B,C},fo)"},
      "A(i,k)", "C", 300);
}

// Memory of a few elements has room behind it anyhow.
TEST(Ghosts, LieBehindWhatMovesForThemOnce) {
  expect_ghosts({.statement = "A(i,k) = B(i,j) * C(j,k)",
                 .formats = "B:ds",
                 .sizes = {{"i", 20}, {"j", 40}, {"k", 300}},
                 .distributions = {"A(x,y) -> M(x)", "B(x,y) -> M(x)", "C(x,y) -> M(x)"},
                 .schedule = "reorder(i,j,k); divide(i,io,ii,M.x); distribute(io); communicate({A,B,C},io)"},
                {{"C(j,k)", 1, 300}});
}

TEST(Ghosts, AreWholeRowsOfTheFactorsOfOtherKernels) {
  expect_ghosts({.statement = "A(i,j) = B(i,j) * C(i,k) * D(j,k)",
                 .formats = "A:ds B:ds",
                 .sizes = {{"i", 20}, {"j", 23}, {"k", 5}},
                 .distributions = {"A(x,y) -> M(x)", "B(x,y) -> M(x)", "C(x,y) -> M(x)", "D(x,y) -> M(x)"},
                 .schedule = by_rows},
                {{"D(j,k)", 1, 5}});
  for (const char* format : {"B:dss", "B:sss"})
    expect_ghosts({.statement = "A(i,l) = B(i,j,k) * C(j,l) * D(k,l)",
                   .formats = format,
                   .sizes = {{"i", 13}, {"j", 11}, {"k", 12}, {"l", 4}},
                   .distributions = {"A(x,y) -> M(x)", "B(x,y,z) -> M(x)", "C(x,y) -> M(x)", "D(x,y) -> M(x)"},
                   .schedule = "reorder(i,j,k,l); " + by_rows},
                  {{"C(j,l)", 1, 4}, {"D(k,l)", 2, 4}});
}

TEST(Ghosts, OfSeveralOperandsThatOneCoordinateLeadsTo) {
  expect_ghosts({.statement = "a(i) = B(i,j) * c(j) * d(j)",
                 .formats = "B:ds",
                 .sizes = {{"i", 20}, {"j", 23}},
                 .distributions = {"a(x) -> M(x)", "B(x,y) -> M(x)", "c(x) -> M(x)", "d(x) -> M(x)"},
                 .schedule = "divide(i,io,ii,M.x); distribute(io); communicate({a,B,c,d},io)"},
                {{"c(j)", 1, 1}, {"d(j)", 1, 1}});
}

// ---- ghosts that lie where their coordinates are ----

// Only elements beside the diagonal, as far from it as that.
void keep_band(reference::DenseArray& B, int64_t width) {
  test::each_element(B.dims, [&](const std::vector<int64_t>& at, size_t position) {
    if (std::abs(at[0] - at[1]) > width) B.values[position] = Scalar(0.0);
  });
}

// Nothing is numbered then: what comes to the matrix is nothing. Statements that read the same operand beside it number theirs.
TEST(Ghosts, LieAroundTheHomeWhereNothingIsBetween) {
  runtime::testkit::on_ranks([&](Transport& t) {
    for (auto [statement, largest_row] : {std::pair("a(i) = B(i,j) * c(j)", 1), {"A(i,k) = B(i,j) * c(j,k)", 300}})
      for (int64_t pieces : {2, 3, 4})
        for (int64_t width : {1, 3, 30}) {
          bool vector = largest_row == 1;
          PlacedProgram program = test::parse_placed(
              {.statement = statement,
               .formats = "B:ds",
               .sizes = {{"i", 30}, {"j", 30}, {"k", 300}},
               .machine = std::to_string(pieces),
               .distributions = {vector ? "a(x) -> M(x)" : "A(x,y) -> M(x)", "B(x,y) -> M(x)",
                                 vector ? "c(x) -> M(x)" : "c(x,y) -> M(x)"},
               .schedule = std::string(vector ? "" : "reorder(i,j,k); ") + "divide(i,io,ii,M.x); distribute(io)"});
          reference::Arrays data = test::draw_data(program, uint64_t(width), 1);
          reference::DenseArray& B = data.at(program.tensors.at("B"));
          keep_band(B, width);
          PlacedRun run(t, program, data);
          SCOPED_TRACE(std::string(statement) + ", a band of " + std::to_string(width) + " over " +
                       std::to_string(pieces));
          std::string access = vector ? "c(j)" : "c(j,k)";
          std::vector<int64_t> wanted = ghosts(B, 1, pieces, Dealt::Rows);
          for (int round = 0; round < 3; round++) {
            run.compute();
            expect_right(program, data, run);
            Report report = run.report();
            for (int64_t c = 0; c < pieces; c++) {
              EXPECT_EQ(report.pieces[size_t(c)].moved[access].piece, 8 * largest_row * wanted[size_t(c)]) << c;
              EXPECT_EQ(report.pieces[size_t(c)].moved["B(i,j)"].piece, 0)
                  << "of colour " << c << " nothing is numbered";
            }
            EXPECT_EQ(report.total(access).copied, 0);
            run.fill("c", double(round + 2));
            fill_data(data, program, "c", double(round + 2));
          }
          if (t.allreduce(int32_t(::testing::Test::HasFailure()), runtime::ReduceOp::Max)) return;
        }
  });
}

// ---- pieces of their own: exact all the same ----

// The largest piece of an operand, and that everything is right, with what is the case in the definition.
template <class Wanted>
void expect_largest(PlacedText text, const std::string& access, Wanted&& wanted) {
  runtime::testkit::on_ranks([&](Transport& t) {
    for (int64_t pieces : {2, 3, 7}) {
      text.machine = std::to_string(pieces);
      PlacedProgram program = test::parse_placed(text);
      reference::Arrays data = test::draw_data(program, uint64_t(pieces), 9);
      PlacedRun run(t, program, data);
      for (int round = 0; round < 2; round++) {
        run.compute();
        expect_right(program, data, run);
      }
      EXPECT_EQ(run.report().total(access).piece, wanted(program, data, pieces)) << pieces << " pieces\n"
                                                                                 << text.schedule;
      if (t.allreduce(int32_t(::testing::Test::HasFailure()), runtime::ReduceOp::Max)) return;
    }
  });
}

// Coordinates along a dimension that occur in the rows of a colour: of the colour with the most.
int64_t most_occurring(const reference::DenseArray& B, size_t dim, int64_t pieces) {
  std::vector<std::set<int64_t>> occur(static_cast<size_t>(pieces));
  test::each_element(B.dims, [&](const std::vector<int64_t>& at, size_t position) {
    if (!notation::is_zero(B.values[position])) occur[size_t(block_of(B.dims[0], pieces, at[0]))].insert(at[dim]);
  });
  size_t most = 0;
  for (const auto& set : occur) most = std::max(most, set.size());
  return int64_t(most);
}

TEST(Ghosts, AreAllThatAPieceHasWhereColumnsAreGathered) {
  expect_largest({.statement = "A(i,j) = B(i,j) * C(i,k) * D(k,j)",
                  .formats = "A:ds B:ds",
                  .sizes = {{"i", 20}, {"j", 23}, {"k", 5}},
                  .distributions = {"A(x,y) -> M(x)", "B(x,y) -> M(x)", "C(x,y) -> M(x)", "D(x,y) -> M(y)"},
                  .schedule = by_rows},
                 "D(k,j)", [](auto& program, auto& data, int64_t pieces) {
                   return 8 * 5 * most_occurring(data.at(program.tensors.at("B")), 1, pieces);
                 });
}

// Of what steps cut, a piece has a step's part.
TEST(Ghosts, AreAllThatAPieceHasOfABatch) {
  expect_largest({.statement = "A(i,j) = B(i,k) * C(k,j)",
                  .formats = "B:ds",
                  .sizes = {{"i", 20}, {"k", 23}, {"j", 12}},
                  .distributions = {"A(x,y) -> M(x)", "B(x,y) -> M(x)", "C(x,y) -> M(x)"},
                  .schedule = "divide(i,io,ii,M.x); divide(j,jo,ji,4); reorder(io,jo,ii,k,ji); distribute(io); "
                              "communicate({A,B},io); communicate({C},jo)"},
                 "C(k,j)", [](auto& program, auto& data, int64_t pieces) {
                   return 8 * 3 * most_occurring(data.at(program.tensors.at("B")), 1, pieces);
                 });
}

TEST(Ghosts, AreFoundWhereverHomesAre) {
  runtime::testkit::on_ranks([&](Transport& t) {
    for (const char* c_at : {"c(x) -> M(x)", "c(x) -> M(everywhere)"})
      for (uint64_t seed : {1, 2, 3}) {
        std::string fault = test::find_fault(t,
                                             {.statement = "a(i) = B(i,j) * c(j)",
                                              .formats = "B:ds",
                                              .sizes = {{"i", 20}, {"j", 23}},
                                              .machine = "4",
                                              .distributions = {"a(x) -> M(x)", "B(x,y) -> M(x)", c_at},
                                              .schedule = "divide(i,io,ii,M.x); distribute(io)",
                                              .reversed = {"c"}},
                                             seed);
        EXPECT_EQ(fault, "");
      }
  });
}

}  // namespace
}  // namespace spdistal
