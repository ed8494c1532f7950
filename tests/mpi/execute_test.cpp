// Statements over pieces against the dense evaluator: random statements, formats, distributions, schedules and machines,
// on any number of ranks.
#include <gtest/gtest.h>

#include <cstdlib>
#include <numeric>

#include "api/session.hpp"
#include "compile/homes.hpp"
#include "execute/bound_plan.hpp"
#include "mpi/ranks.hpp"
#include "mpi/watched.hpp"
#include "notation/concretize.hpp"
#include "schedule/apply.hpp"
#include "support/random_case.hpp"
#include "support/run_case.hpp"
#include "tensor/distribute.hpp"
#include "tensor/pack.hpp"

namespace spdistal {
namespace {

using namespace notation;
using runtime::Transport;

using test::Leaves;

std::shared_ptr<Transport> borrowed(Transport& transport) {
  return std::shared_ptr<Transport>(&transport, [](Transport*) {});
}

// Empty, or what is wrong. Collective, so that a failure on any rank is one on all.
std::string find_fault(Transport& t, const runtime::testkit::Handed& handed, uint64_t seed, Leaves leaves) {
  std::mt19937_64 random{seed};
  test::ProgramCase program = test::draw_case(random);
  program.setting = {.ranks = t.size(), .threads = leaves == Leaves::Compiled ? 2 : 1, .leaves = leaves};
  std::string fault;
  try {
    fault = test::find_fault(t, test::build(program), handed).value_or("");
  } catch (const UserError&) {}  // refused, on all ranks alike
  return fault.empty() ? "" : test::describe(program) + "\n" + fault;
}

void run_cases(const char* name, int alone, int under_mpi, Leaves leaves) {
  Session::instance().transport();  // which choosing asks for: before ranks that are threads do so at once
  runtime::testkit::on_watched_ranks([&](Transport& t, const runtime::testkit::Handed& handed) {
    int from = 0, count = runtime::testkit::cases(alone, under_mpi);
    if (std::getenv("FULL_TESTS")) count *= 10;
    if (const char* seed = std::getenv("SEED")) from = std::atoi(seed), count = from + 1;
    for (int seed = from; seed < count; seed++) {
      runtime::testkit::announce(t, name, uint64_t(seed));
      std::string fault = find_fault(t, handed, uint64_t(seed), leaves);
      if (!fault.empty()) ADD_FAILURE() << name << " seed " << seed << " on " << t.size() << " ranks\n" << fault;
      if (t.allreduce(int32_t(::testing::Test::HasFailure()), runtime::ReduceOp::Max)) return;
    }
  });
}

// And what leaves ranks is what the report says.
TEST(Execute, AgreesWithTheDenseEvaluatorOnRandomProgramsWithInterpretedLeaves) {
  run_cases("interpreted", 500, 200, Leaves::Interpreted);
}
TEST(Execute, AgreesWithTheDenseEvaluatorOnRandomProgramsWithCompiledLeaves) {
  run_cases("compiled", 30, 50, Leaves::Compiled);
}

ProcessOptions options() {
  ProcessOptions out = test::options_for(Leaves::Interpreted);
  out.overlap_bytes = 0;  // always
  return out;
}

// a(i) = B(i,j) * c(j) by rows, with c(j) = j * j. B holds so wide a band that row i is 2 c(i) - c(i-w) - c(i+w) = -2 w * w.
struct SecondDifference {
  static constexpr int64_t n = 400;
  Transport& t;
  Process process{options()};
  TensorVar a{{Symbol("a"), ScalarType::Float64, {Extent(n)}, Format({Dense})}};
  TensorVar B{{Symbol("B"), ScalarType::Float64, {Extent(n), Extent(n)}, CSR}};
  TensorVar c{{Symbol("c"), ScalarType::Float64, {Extent(n)}, Format({Dense})}};
  std::optional<Compiled> compiled;
  std::optional<BoundPlan> bound;
  std::optional<Home> out;

  explicit SecondDifference(Transport& transport) : t(transport) {
    process.connect(borrowed(t));
    IndexVar i("i"), j("j"), io("io"), ii("ii");
    Assignment spmv{
        {a, {i}}, AssignOp::Set, Binary{BinaryOp::Mul, notation::Access{B, {i, j}}, notation::Access{c, {j}}}};
    ConcreteStatement statement =
        schedule::apply({Divide{i, io, ii, t.size()}, Distribute{{io}}}, concretize(spmv).value()).value();
    compiled.emplace(statement);
    bound.emplace(process, *compiled, homes_of(a, t.size()));
  }

  // Three times, each with other values.
  void compute(int64_t width) {
    Coordinates band({n, n}, ScalarType::Float64);
    for (int64_t row = 0; row < n; row++)
      for (int64_t column : {row - width, row, row + width})
        if (column >= 0 && column < n) band.add({row, column}, column == row ? 2.0 : -1.0);
    Home matrix = pack_alike(t, std::move(band), CSR, homes_of(B, t.size()));
    Home vector = pack(t, Coordinates({n}, ScalarType::Float64), c.format(), homes_of(c, t.size()));
    for (int run = 0; run < 3; run++) {
      fill<double>(vector, [&](std::span<const int64_t> at) { return double(at[0] * at[0] + run); });
      bound->compute({{B, &matrix}, {c, &vector}}, out);
      for (int64_t row = width; row + width < n; row += row < 8 ? 1 : n / 40) {
        std::vector<int64_t> at{row};
        ASSERT_EQ(spdistal::at<double>(t, *out, at), double(-2 * width * width)) << "row " << row << ", run " << run;
      }
    }
  }
};

TEST(Execute, RowsThatNeedNothingFromElsewhereRunWhileTheOthersWait) {
  runtime::testkit::on_ranks([](Transport& t) {
    SecondDifference difference(t);
    difference.compute(1);
    Report report = difference.bound->report();  // the operands are gone by now
    EXPECT_EQ(std::accumulate(report.pieces.begin(), report.pieces.end(), int64_t(0),
                              [](int64_t sum, const PieceReport& piece) { return sum + piece.non_zeros; }),
              3 * SecondDifference::n - 2);
    if (t.size() > 1) {
      EXPECT_GE(report.overlapped, 6 * t.size()) << "of eight chunks of each colour, two have neighbours elsewhere";
      EXPECT_EQ(report.total("c(j)").received, 8 * 2 * (t.size() - 1));
    }
  });
}

TEST(Execute, ChunksOfRowsAreRightAfterAPatternHasChanged) {
  runtime::testkit::on_ranks([](Transport& t) {
    SecondDifference difference(t);
    for (int64_t width : {1, 2, 1}) {
      difference.compute(width);
      int64_t overlapped = difference.bound->report().overlapped;
      EXPECT_GE(overlapped, t.size() > 1 ? 6 * t.size() : 0) << "the chunks are what this looks at";
    }
  });
}

}  // namespace
}  // namespace spdistal
