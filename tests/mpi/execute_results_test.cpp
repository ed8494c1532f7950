// Where sparse results end up: those that store what an operand stores take over its pieces, and only what is cut between
// colours is added up; others are packed once, and from then on values alone go home. Counts are from the definition.
#include <gtest/gtest.h>

#include "mpi/ranks.hpp"
#include "notation/arithmetic.hpp"
#include "reference/evaluate.hpp"
#include "support/elements.hpp"
#include "support/placed_program.hpp"
#include "tensor/distribute.hpp"

namespace spdistal {
namespace {

using runtime::Transport;
using test::PlacedProgram;
using test::PlacedRun;
using test::PlacedText;

constexpr int64_t bytes = sizeof(double);

// Runs a program three times on 2, 3, 4 and 7 pieces; `check` sees the run, which time it is, the data and the pieces.
template <class F>
void on_machines(PlacedText text, F&& check) {
  runtime::testkit::on_ranks([&](Transport& t) {
    for (int64_t pieces : {2, 3, 4, 7}) {
      text.machine = std::to_string(pieces);
      PlacedProgram program = test::parse_placed(text);
      reference::Arrays data = test::draw_data(program, uint64_t(pieces), 3);
      reference::Arrays wanted = data;
      reference::evaluate(program.assignment, wanted);
      PlacedRun run(t, program, data);
      SCOPED_TRACE(std::to_string(pieces) + " pieces on " + std::to_string(t.size()) + " ranks\n" +
                   plan::print(run.plan()));
      for (int round = 0; round < 3; round++) {
        run.compute();
        Result<> sound = verify(t, run.result());
        EXPECT_TRUE(sound) << sound.refusal().str();
        EXPECT_TRUE(run.gathered_result() == wanted.at(program.assignment.lhs.tensor)) << "round " << round;
        check(run, round, data.at(program.tensors.at("B")), pieces);
        if (t.allreduce(int32_t(::testing::Test::HasFailure()), runtime::ReduceOp::Max)) return;
      }
    }
  });
}

// Of equal shares of the stored elements: how many begin with coordinates, of the first dimensions, that the share before
// ended with.
int64_t cut_elements(const reference::DenseArray& array, size_t dims, int64_t pieces) {
  std::vector<std::vector<int64_t>> stored;
  test::each_element(array.dims, [&](const std::vector<int64_t>& at, size_t position) {
    if (!notation::is_zero(array.values[position])) stored.emplace_back(at.begin(), at.begin() + long(dims));
  });
  size_t share = (stored.size() + size_t(pieces) - 1) / size_t(pieces);
  int64_t cuts = 0;
  for (size_t first = share; first < stored.size(); first += share) cuts += stored[first] == stored[first - 1];
  return cuts;
}

void expect_in_place(const Report& report, const std::string& access, const std::string& tensor) {
  PieceReport::Moved moved = report.total(access);
  EXPECT_EQ(moved.received + moved.copied + moved.packed, 0) << report.str();
  for (const SentReport& sent : report.sent)
    if (sent.tensor == tensor) { EXPECT_EQ(sent.kind, "indices") << report.str(); }
}

const std::string sddmm = "A(i,j) = B(i,j) * C(i,k) * D(k,j)";
const std::string shares = "fuse(i,j,f); pos(f,fp,B(i,j)); divide(fp,fo,fi,M.x); distribute(fo)";

TEST(SparseResults, OfSddmmByNonZerosTakeOverThePiecesOfTheOperand) {
  for (const char* formats : {"A:ds B:ds", "A:ss B:ss", "A:uq B:uq"})
    on_machines({.statement = sddmm,
                 .formats = formats,
                 .sizes = {{"i", 20}, {"j", 23}, {"k", 5}},
                 .distributions = {"B(x,y) fuse(x,y,f) -> M(~f)"},
                 .schedule = shares},
                [](PlacedRun& run, int, const auto&, int64_t) {
                  expect_in_place(run.report(), "A(i,j)", "A");
                  const Home &a = run.result(), &b = run.home("B");
                  ASSERT_EQ(a.colours(), b.colours());
                  for (int64_t c = a.colours().lo; c < a.colours().hi; c++)
                    EXPECT_TRUE(same_pattern(a.piece(c).pattern(), b.piece(c).pattern()));
                });
}

TEST(SparseResults, OfSddmmByNonZerosStayInAHomeOfNonZeros) {
  on_machines({.statement = sddmm,
               .formats = "A:ds B:ds",
               .sizes = {{"i", 20}, {"j", 23}, {"k", 5}},
               .distributions = {"A(x,y) fuse(x,y,f) -> M(~f)", "B(x,y) -> M(y)"},
               .schedule = shares},
              [](PlacedRun& run, int, const auto&, int64_t) { expect_in_place(run.report(), "A(i,j)", "A"); });
}

// Rows by one dimension of the machine, and the non-zeros of each block of them by another.
TEST(SparseResults, OfSddmmStayInAHomeOfTheNonZerosOfBlocksOfRows) {
  const std::string blocks =
      "divide(i,io,ii,M.x); fuse(ii,j,f); pos(f,fp,B(i,j)); divide(fp,fo,fi,M.y); distribute(io,fo)";
  runtime::testkit::on_ranks([&](Transport& t) {
    for (const char* machine : {"1x3", "2x2", "3x2", "7x1", "5x3"})
      for (const char* b_at : {"B(x,y) fuse(x,y,f) -> M(x,~f)", "B(x,y) -> M(y,0)"}) {
        PlacedProgram program = test::parse_placed({.statement = sddmm,
                                                    .formats = "A:ds B:ds",
                                                    .sizes = {{"i", 12}, {"j", 23}, {"k", 5}},
                                                    .machine = machine,
                                                    .distributions = {"A(x,y) fuse(x,y,f) -> M(x,~f)", b_at},
                                                    .schedule = blocks});
        reference::Arrays data = test::draw_data(program, 5, 3), wanted = data;
        reference::evaluate(program.assignment, wanted);
        PlacedRun run(t, program, data);
        SCOPED_TRACE(std::string(machine) + " on " + std::to_string(t.size()) + " ranks, " + b_at);
        for (int round = 0; round < 3; round++) {
          run.compute();
          Result<> sound = verify(t, run.result());
          EXPECT_TRUE(sound) << sound.refusal().str();
          EXPECT_TRUE(run.gathered_result() == wanted.at(program.assignment.lhs.tensor)) << "round " << round;
          expect_in_place(run.report(), "A(i,j)", "A");
        }
        if (t.allreduce(int32_t(::testing::Test::HasFailure()), runtime::ReduceOp::Max)) return;
      }
  });
}

TEST(SparseResults, OfSpttvByNonZerosAddUpOnlyWhatIsCutBetweenColours) {
  for (const char* formats : {"A:ds B:dss", "A:ss B:sss"})
    on_machines({.statement = "A(i,j) = B(i,j,k) * c(k)",
                 .formats = formats,
                 .sizes = {{"i", 7}, {"j", 4}, {"k", 9}},
                 .distributions = {"B(x,y,z) fuse(x,y,z,f) -> M(~f)"},
                 .schedule = "fuse(i,j,g); fuse(g,k,f); pos(f,fp,B(i,j,k)); divide(fp,fo,fi,M.x); distribute(fo)"},
                [](PlacedRun& run, int, const reference::DenseArray& b, int64_t pieces) {
                  PieceReport::Moved moved = run.report().total("A(i,j)");
                  EXPECT_EQ(moved.received, bytes * cut_elements(b, 2, pieces));
                  EXPECT_EQ(moved.packed, 0);
                });
}

// One row over all pieces: colours between have nothing but a part of one element.
TEST(SparseResults, MayBeOneElementThatAllColoursHaveAPartOf) {
  on_machines(
      {.statement = "a(i) = B(i,j) * c(j)", .formats = "a:s B:ss", .sizes = {{"i", 2}, {"j", 90}}, .schedule = shares},
      [](PlacedRun& run, int, const reference::DenseArray& b, int64_t pieces) {
        EXPECT_EQ(run.report().total("a(i)").received, bytes * cut_elements(b, 1, pieces));
        EXPECT_EQ(cut_elements(b, 1, pieces), pieces - 1);
      });
}

TEST(SparseResults, ThatLiveElsewhereArePackedOnceAndThenValuesAloneGoHome) {
  for (const char* schedule : {"divide(i,io,ii,M.x); distribute(io)", shares.c_str()})
    on_machines({.statement = sddmm,
                 .formats = "A:ds B:ds",
                 .sizes = {{"i", 20}, {"j", 23}, {"k", 5}},
                 .distributions = {"A(x,y) -> M(y)", "B(x,y) -> M(x)"},
                 .schedule = schedule},
                [](PlacedRun& run, int round, const auto&, int64_t) {
                  Report report = run.report();
                  if (round == 0) { EXPECT_GT(report.total("A(i,j)").packed, 0); }
                  if (round < 2) return;
                  EXPECT_EQ(report.total("A(i,j)").packed, 0);
                  EXPECT_EQ(report.bytes_sent("indices"), 0) << report.str();
                  EXPECT_EQ(report.bytes_sent("results"), report.total("A(i,j)").between_ranks);
                });
}

TEST(SparseResults, OfUnknownPatternsAreAddedUpAtHomeFromValuesAlone) {
  on_machines({.statement = "A(i,j) = B(i,k) * C(k,j)",
               .formats = "A:ds B:ds C:ds",
               .sizes = {{"i", 20}, {"k", 23}, {"j", 14}},
               .distributions = {"A(x,y) -> M(x)", "B(x,y) -> M(x)", "C(x,y) -> M(x)"},
               .schedule = "reorder(i,k,j); divide(k,ko,ki,M.x); reorder(ko,i,ki,j); distribute(ko)"},
              [](PlacedRun& run, int round, const auto&, int64_t) {
                if (round < 2) return;
                EXPECT_EQ(run.report().total("A(i,j)").packed, 0);
                EXPECT_EQ(run.report().bytes_sent("indices"), 0);
              });
}

// Whatever is stored, wherever colours cut it, and wherever the operand lives.
TEST(SparseResults, ThatTakeOverPiecesAgreeWithTheDenseEvaluatorOnRandomData) {
  struct Taking {
    const char *statement, *formats, *schedule, *place;
  };
  const char *all = "fuse(i,j,g); fuse(g,k,f); pos(f,fp,B(i,j,k)); divide(fp,fo,fi,M.x); distribute(fo)",
             *tubes = "fuse(i,j,f); pos(f,fp,B(i,j,k)); divide(fp,fo,fi,M.x); distribute(fo)";
  std::vector<Taking> programs{
      {"A(i,j) = B(i,j,k) * c(k)", "A:ds B:dss", all, "B(x,y,z) fuse(x,y,z,f) -> M(~f)"},
      {"A(i,j) = B(i,j,k) * c(k)", "A:ss B:sss", all, "B(x,y,z) -> M(y)"},
      {"A(i,j) = B(i,j,k) * c(k)", "A:ss B:sss", tubes, "B(x,y,z) -> M(x)"},
      {"A(i,j,k) = B(i,j,k) * c(k)", "A:dss B:dss", all, "B(x,y,z) -> M(z)"},
      {"A(i,j,k) = B(i,j,k) * C(j,l)", "A:sss B:sss", tubes, "B(x,y,z) fuse(x,y,z,f) -> M(~f)"},
      {"a(i) = B(i,j,k)", "a:s B:sss", all, "B(x,y,z) fuse(x,y,z,f) -> M(~f)"},
  };
  runtime::testkit::on_ranks([&](Transport& t) {
    for (const Taking& taking : programs)
      for (int seed = 0; seed < runtime::testkit::cases(12, 6); seed++) {
        PlacedText text{.statement = taking.statement,
                        .formats = taking.formats,
                        .sizes = {{"i", 1 + seed % 5}, {"j", 3}, {"k", 1 + seed % 7}, {"l", 2}},
                        .machine = std::to_string(2 + seed % 4),
                        .distributions = {taking.place},
                        .schedule = taking.schedule};
        std::string fault = test::find_fault(t, text, uint64_t(seed));
        if (!fault.empty()) ADD_FAILURE() << fault;
        if (t.allreduce(int32_t(!fault.empty()), runtime::ReduceOp::Max)) return;
      }
  });
}

// By rows they stay, and runs after the first write values where the first one put them.
TEST(SparseResults, OfUnknownPatternsKeepPatternAndMemoryWhileThoseOfOperandsStand) {
  for (const char* statement : {"A(i,j) = B(i,k) * C(k,j)", "A(i,j) = B(i,j) + C(i,j)"}) {
    on_machines({.statement = statement,
                 .formats = "A:ds B:ds C:ds",
                 .sizes = {{"i", 14}, {"k", 14}, {"j", 14}},
                 .distributions = {"A(x,y) -> M(x)", "B(x,y) -> M(x)", "C(x,y) -> M(x)"},
                 .schedule = "divide(i,io,ii,M.x); distribute(io)"},
                [](PlacedRun& run, int round, const auto&, int64_t) {
                  thread_local std::vector<const void*> places;  // of the first run, of this rank
                  std::vector<const void*> now;
                  const Home& result = run.result();
                  for (int64_t c = result.colours().lo; c < result.colours().hi; c++) {
                    now.push_back(&result.piece(c).pattern());
                    now.push_back(result.piece(c).value_address());
                  }
                  if (round > 0) { EXPECT_EQ(now, places); }
                  places = std::move(now);
                });
  }
}

}  // namespace
}  // namespace spdistal
