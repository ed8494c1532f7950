// A report accounts for every byte that leaves a rank: compared with what is handed to MPI, or to the transport of ranks
// that are threads. Random programs are compared likewise (execute_test.cpp).
#include <gtest/gtest.h>

#include "mpi/watched.hpp"
#include "support/placed_program.hpp"

namespace spdistal {
namespace {

using runtime::Transport;
using runtime::testkit::Handed;
using test::PlacedProgram;
using test::PlacedRun;
using test::PlacedText;

// Runs twice, and calls `check` with the report of the first run.
template <class F>
void on_watched(PlacedText text, F&& check) {
  runtime::testkit::on_watched_ranks([&](Transport& t, const Handed& handed) {
    text.machine = std::to_string(t.size());
    PlacedProgram program = test::parse_placed(text);
    PlacedRun run(t, program, test::draw_data(program, 7));
    for (int round = 0; round < 2; round++) {
      int64_t before = handed();
      run.compute();
      int64_t left = t.allreduce(handed() - before, runtime::ReduceOp::Sum);
      Report report = run.report();
      EXPECT_EQ(report.bytes_sent(), left) << report.str();
      if (round == 0) check(t, report);
    }
  });
}

int64_t of(const Report& report, const std::string& tensor, const std::string& kind) {
  for (const SentReport& sent : report.sent)
    if (sent.tensor == tensor && sent.kind == kind) return sent.bytes;
  return 0;
}

TEST(Report, HasTheResultsThatGoHomeToColumns) {
  on_watched({.statement = "A(i,j) = B(i,j) + C(i,j)",
              .formats = "A:ds B:ds C:ds",
              .sizes = {{"i", 40}, {"j", 40}},
              .distributions = {"A(x,y) -> M(y)", "B(x,y) -> M(x)", "C(x,y) -> M(x)"},
              .schedule = "divide(i,io,ii,M.x); distribute(io)"},
             [](Transport& t, const Report& report) {
               EXPECT_EQ(report.bytes_sent("values"), 0);
               if (t.size() == 1) return;
               EXPECT_GT(of(report, "A", "results"), 0) << report.str();
               EXPECT_GT(report.total("A(i,j)").packed, 0);
             });
}

TEST(Report, HasTheIndicesAndValuesOfWhatLivesElsewhere) {
  on_watched({.statement = "a(i) = B(i,j) * c(j)",
              .formats = "B:ds",
              .sizes = {{"i", 40}, {"j", 40}},
              .distributions = {"a(x) -> M(x)", "B(x,y) -> M(y)", "c(x) -> M(x)"},
              .schedule = "divide(i,io,ii,M.x); distribute(io)"},
             [](Transport& t, const Report& report) {
               if (t.size() == 1) return;
               EXPECT_EQ(of(report, "B", "values"), report.total("B(i,j)").between_ranks);
               EXPECT_EQ(of(report, "c", "values"), report.total("c(j)").between_ranks);
               EXPECT_GE(of(report, "B", "indices"), of(report, "B", "values"));
               EXPECT_GT(of(report, "", "agreement"), 0);
             });
}

// Rows, and positions, of other colours than at home: slices of the arrays travel, where entries listed with all of their
// coordinates would take three times as much as their values.
TEST(Report, HasIndicesAsNarrowAsThePiecesWhoseSlicesMove) {
  for (const char* schedule :
       {"divide(i,io,ii,5); distribute(io)", "fuse(i,j,f); pos(f,fp,B(i,j)); divide(fp,fo,fi,5); distribute(fo)"})
    for (const char* format : {"B:ds", "B:ss"})
      on_watched({.statement = "a(i) = B(i,j) * c(j)",
                  .formats = format,
                  .sizes = {{"i", 250}, {"j", 250}},
                  .distributions = {"a(x) -> M(x)", "B(x,y) -> M(x)", "c(x) -> M(x)"},
                  .schedule = schedule},
                 [](Transport& t, const Report& report) {
                   if (t.size() == 1) return;
                   EXPECT_GT(of(report, "B", "values"), 0) << report.str();
                   EXPECT_LT(of(report, "B", "indices"), of(report, "B", "values")) << report.str();
                 });
}

TEST(Report, HasTheOperandThatIsPutInOrderAndTheSumsOfANonZeroSchedule) {
  on_watched({.statement = "a(i) = B(i,j) * c(j)",
              .formats = "B:ds",
              .sizes = {{"i", 40}, {"j", 40}},
              .distributions = {"a(x) -> M(x)", "B(x,y) -> M(y)", "c(x) -> M(x)"},
              .schedule = "fuse(i,j,f); pos(f,fp,B(i,j)); divide(fp,fo,fi,M.x); distribute(fo)"},
             [](Transport& t, const Report& report) {
               if (t.size() == 1) return;
               EXPECT_GT(of(report, "B", "redistribution"), 0) << report.str();
               EXPECT_EQ(of(report, "a", "reductions"), report.total("a(i)").between_ranks);
             });
}

TEST(Report, TellsTheTimeOfCompilationApartFromThatOfPieces) {
  PlacedText text{.statement = "a(i) = B(i,j) * c(j)",
                  .formats = "B:ds",
                  .sizes = {{"i", 40}, {"j", 40}},
                  .schedule = "divide(i,io,ii,3); distribute(io)"};
  runtime::testkit::on_watched_ranks([&](Transport& t, const Handed&) {
    PlacedProgram program = test::parse_placed(text);
    PlacedRun run(t, program, test::draw_data(program, 7));
    run.compute();
    EXPECT_GT(run.report().compile_seconds, 0);
    run.compute();  // in chunks, where data is under way: these have kernels of their own
    run.compute();
    EXPECT_EQ(run.report().compile_seconds, 0);
  });
}

}  // namespace
}  // namespace spdistal
