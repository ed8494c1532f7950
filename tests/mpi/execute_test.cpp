// Statements over pieces against the dense evaluator: random statements, formats, distributions, schedules and machines,
// on any number of ranks.
#include <gtest/gtest.h>

#include <cstdlib>
#include <numeric>

#include "base/text.hpp"
#include "driver/execute.hpp"
#include "driver/homes.hpp"
#include "mpi/ranks.hpp"
#include "notation/concretize.hpp"
#include "notation/print.hpp"
#include "reference/arithmetic.hpp"
#include "reference/evaluate.hpp"
#include "schedule/apply.hpp"
#include "schedule/print.hpp"
#include "support/random_distribution.hpp"
#include "support/random_program.hpp"
#include "support/random_tensor.hpp"
#include "tensor/distribute.hpp"
#include "tensor/pack.hpp"

namespace spdistal {
namespace {

using namespace notation;
using runtime::Transport;

enum class Leaves { Interpreted, Compiled };

std::shared_ptr<Transport> borrowed(Transport& transport) {
  return std::shared_ptr<Transport>(&transport, [](Transport*) {});
}

SessionOptions options_for(Leaves leaves) {
  SessionOptions options = SessionOptions::from_environment();
  if (leaves == Leaves::Interpreted) options.jit.compiler = "";
  options.threads = leaves == Leaves::Compiled ? 2 : 1;
  options.overlap_bytes = 0;  // always
  return options;
}

reference::Array gathered(Transport& t, const Home& home) {
  return test::to_array(pack(gather(t, home), Format(home.format().levels(), home.format().mode_order())));
}

std::string shown(const reference::Array& array) {
  return join(array.values, " ", [](const Scalar& value) { return notation::print(value); });
}

// x = x + x, in the pieces and in the array.
void twice(Home& home, reference::Array& array) {
  for (int64_t c = home.colours().lo; c < home.colours().hi; c++) {
    Storage next = home.piece(c).clone();
    with_type(next.type(), [&](auto zero) {
      using T = decltype(zero);
      for (T& value : next.values<T>()) value = T(value + value);
    });
    home.piece(c) = std::move(next);
  }
  home.changed();
  for (Scalar& value : array.values)
    value = reference::convert(reference::compute(BinaryOp::Add, value, value), array.type);
}

// Empty, or what is wrong.
std::string find_fault(Transport& t, uint64_t seed, Leaves leaves) {
  std::mt19937_64 random{seed};
  test::RandomProgram c = test::draw_program(random);
  // A += e with sparse A is A = A + e.
  if (c.assignment.op == AssignOp::Add && !c.assignment.lhs.tensor.format().is_dense())
    c.assignment = {c.assignment.lhs, AssignOp::Set, Binary{BinaryOp::Add, c.assignment.lhs, c.assignment.rhs}};
  ConcreteStatement loops = concretize(c.assignment).value();
  test::RandomSchedule schedule = test::draw_distributed(random, loops);
  Machine machine = test::draw_machine(random);

  Session session(options_for(leaves));
  session.connect(borrowed(t));
  std::map<TensorVar, Home> homes;
  std::map<TensorVar, Shares> shares;
  std::string places;
  for (const auto& [tensor, array] : c.arrays) {
    TensorVar placed =
        std::uniform_int_distribution<int>(0, 3)(random) == 0 ? tensor : test::draw_placed(random, tensor, machine);
    shares.emplace(tensor, homes_of(placed, t.size()));
    Storage whole = test::to_storage(array, tensor.format());
    homes.emplace(tensor, scatter(t, whole, shares.at(tensor)));
  }
  const TensorVar& result = c.assignment.lhs.tensor;
  bool reads = schedule.statement.start == Start::Old;
  each<notation::Access>(c.assignment.rhs, [&](const notation::Access& a) { reads |= a.tensor == result; });

  Printer names;
  std::string text = names(c.assignment) + "\n" + names(schedule.statement) + "\n";
  for (const Command& command : schedule.commands) text += schedule::print(command, names) + "; ";
  for (const auto& [tensor, array] : c.arrays)
    text += "\n" + names.name(tensor) + ": " + tensor.format().str() + ", " +
            std::to_string(shares.at(tensor).of.size()) + " pieces";
  std::string inputs;
  for (const auto& [tensor, array] : c.arrays) inputs += names.name(tensor) + " = " + shown(array) + "\n";
  try {
    Execution execution(session, schedule.statement, shares.at(result));
    std::optional<Home> out;
    if (reads) out.emplace(std::move(homes.at(result)));
    reference::Arrays wanted = c.arrays;
    for (int run = 0; run < 3; run++) {
      // Other values in other memory, where the operands are not what the last run made.
      if (run > 0)
        for (auto& [tensor, home] : homes)
          if (tensor != result) twice(home, wanted.at(tensor));
      Homes operands;
      for (const auto& [tensor, home] : homes)
        if (tensor != result) operands.emplace(tensor, &home);
      if (reads) operands.emplace(result, &*out);
      execution.compute(operands, out);
      reference::evaluate(c.assignment, wanted);
      if (Result<> sound = verify(t, *out); !sound)
        return text + "\nrun " + std::to_string(run) + ": " + sound.refusal().str();
      if (!(gathered(t, *out) == wanted.at(result)))
        return text + "\nrun " + std::to_string(run) +
               ": the result is not what the statement says: " + shown(gathered(t, *out)) + ", not " +
               shown(wanted.at(result)) + "\n" + inputs + plan::print(execution.plan()) + execution.kernel();
    }
  } catch (const std::exception& error) { return text + "\n" + error.what(); }
  return "";
}

void run_cases(const char* name, int alone, int under_mpi, Leaves leaves) {
  runtime::testkit::on_ranks([&](Transport& t) {
    int from = 0, count = runtime::testkit::cases(alone, under_mpi);
    if (std::getenv("FULL_TESTS")) count *= 10;
    if (const char* seed = std::getenv("SEED")) from = std::atoi(seed), count = from + 1;
    for (int seed = from; seed < count; seed++) {
      runtime::testkit::announce(t, name, uint64_t(seed));
      std::string fault = find_fault(t, uint64_t(seed), leaves);
      if (!fault.empty()) ADD_FAILURE() << name << " seed " << seed << " on " << t.size() << " ranks\n" << fault;
      if (t.allreduce(int32_t(::testing::Test::HasFailure()), runtime::ReduceOp::Max)) return;
    }
  });
}

TEST(Execute, AgreesWithTheDenseEvaluatorOnRandomProgramsWithInterpretedLeaves) {
  run_cases("interpreted", 1000, 200, Leaves::Interpreted);
}
TEST(Execute, AgreesWithTheDenseEvaluatorOnRandomProgramsWithCompiledLeaves) {
  run_cases("compiled", 50, 50, Leaves::Compiled);
}

// a(i) = B(i,j) * c(j) by rows, with c(j) = j * j. B holds so wide a band that row i is 2 c(i) - c(i-w) - c(i+w) = -2 w * w.
struct SecondDifference {
  static constexpr int64_t n = 400;
  Transport& t;
  Session session{options_for(Leaves::Interpreted)};
  TensorVar a{{Symbol("a"), ScalarType::Float64, {Extent(n)}, Format({Dense})}};
  TensorVar B{{Symbol("B"), ScalarType::Float64, {Extent(n), Extent(n)}, CSR}};
  TensorVar c{{Symbol("c"), ScalarType::Float64, {Extent(n)}, Format({Dense})}};
  std::optional<Execution> execution;
  std::optional<Home> out;

  explicit SecondDifference(Transport& transport) : t(transport) {
    session.connect(borrowed(t));
    IndexVar i("i"), j("j"), io("io"), ii("ii");
    Assignment spmv{
        {a, {i}}, AssignOp::Set, Binary{BinaryOp::Mul, notation::Access{B, {i, j}}, notation::Access{c, {j}}}};
    ConcreteStatement statement =
        schedule::apply({Divide{i, io, ii, t.size()}, Distribute{{io}}}, concretize(spmv).value()).value();
    execution.emplace(session, statement, homes_of(a, t.size()));
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
      execution->compute({{B, &matrix}, {c, &vector}}, out);
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
    Report report = difference.execution->report();  // the operands are gone by now
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
      int64_t overlapped = difference.execution->report().overlapped;
      EXPECT_GE(overlapped, t.size() > 1 ? 6 * t.size() : 0) << "the chunks are what this looks at";
    }
  });
}

}  // namespace
}  // namespace spdistal
