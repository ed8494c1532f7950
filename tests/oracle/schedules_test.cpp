// Schedules keep the meaning of statements: random legal schedules, executed loop by loop, give what the statement says.
#include <gtest/gtest.h>

#include <cstdlib>
#include <random>

#include "notation/check.hpp"
#include "notation/concretize.hpp"
#include "notation/parse.hpp"
#include "notation/print.hpp"
#include "reference/arithmetic.hpp"
#include "reference/evaluate.hpp"
#include "reference/execute.hpp"
#include "schedule/print.hpp"
#include "support/random_schedule.hpp"

namespace spdistal {
namespace {

using namespace notation;

const std::vector<std::string> statements = {
    "a(i) = B(i,j) * c(j)",
    "a(i) += B(i,j) * c(j)",
    "a(j) = B(i,j) * c(i)",
    "a(i) = b(i) + B(i,j) * c(j)",
    "a(i) = b(i) - B(i,j) * c(j) + d(i)",
    "a(i) = b(i)",
    "A(i,j) = B(i,k) * C(k,j)",
    "A(i,j) = B(i,k) * B(k,j)",
    "A(i,j) = B(i,j) + C(i,j) + D(i,j)",
    "A(i,j) = B(i,j) * C(i,k) * D(k,j)",
    "A(i,j) = B(j,i)",
    "A(i,j) += 2 * B(i,j) - C(j,i)",
    "A(i,j) = B(i,j,k) * c(k)",
    "A(i,l) = B(i,j,k) * C(j,l) * D(k,l)",
    "s = b(i) * c(i)",
    "s = B(i,j) * C(i,j)",
    "s = sqrt(b(i) * b(i))",
    "a(i) = B(i,i)",
    "a(i) = B(i,j) * c(j) * (d(k) * e(k))",
    "A(i,j) = b(i) * c(j)",
    "x(i) = B(i,j) * x(j)",
    "a(i) = (B(i,k) + C(i,k)) * d(k)",
    "a(i) = max(b(i), 0) * min(c(i), 2)",
    "a(i) = sum(j, B(i,j)) + sum(j, C(i,j))",
    "A(i,j) = (B(i,k) + C(i,k)) * D(k,j)",
};

// A statement with random formats, sizes from 0 to 4, and small whole numbers, so that sums are exact in any order.
struct Case {
  Assignment assignment;
  reference::Arrays arrays;
};

Case draw_case(std::mt19937_64& random) {
  auto number = [&](int64_t low, int64_t high) { return std::uniform_int_distribution<int64_t>(low, high)(random); };
  std::map<std::string, int64_t> sizes;
  Scope scope;
  scope.declare = [&](const Lexer&, const Token& name, const std::vector<IndexVar>& indices) {
    std::vector<LevelFormat> levels;
    std::vector<int> order;
    std::vector<Extent> dims;
    for (size_t d = 0; d < indices.size(); d++) {
      levels.push_back(number(0, 1) ? LevelFormat(Dense) : LevelFormat(Compressed));
      order.push_back(int(d));
      // One size for all: tensors that stand twice are square then.
      dims.push_back(sizes.try_emplace("all", number(0, 4)).first->second);
    }
    if (number(0, 3) == 0) std::shuffle(order.begin(), order.end(), random);
    return TensorVar({Symbol(std::string(name.text)), ScalarType::Float64, dims, Format(levels, order)});
  };
  Assignment assignment = parse_assignment(statements[size_t(number(0, int64_t(statements.size()) - 1))], scope);
  Case out{assignment, {}};
  for (const TensorVar& tensor : tensors(assignment)) {
    std::vector<int64_t> dims;
    for (const Extent& e : tensor.dims()) dims.push_back(*e.value());
    reference::Array array(tensor.type(), dims);
    for (Scalar& value : array.values)
      if (tensor.format().is_dense() || number(0, 2) == 0) value = double(number(-3, 3));
    out.arrays.emplace(tensor, array);
  }
  return out;
}

TEST(Schedules, KeepTheMeaningOfStatementsForTenThousandRandomOnes) {
  int cases = std::getenv("FULL_TESTS") ? 100000 : 10000;
  std::map<std::string, int> accepted;
  for (int seed = 1; seed <= cases; seed++) {
    std::mt19937_64 random{uint64_t(seed)};
    Case c = draw_case(random);
    ASSERT_TRUE(check(c.assignment)) << print(c.assignment);
    ConcreteStatement concrete = concretize(c.assignment).value();
    test::RandomSchedule schedule = test::draw_schedule(random, concrete, 24, &accepted);

    reference::Arrays wanted = c.arrays, found = c.arrays;
    reference::evaluate(c.assignment, wanted);
    Printer names;
    std::string loops = names(schedule.statement);
    SCOPED_TRACE("seed " + std::to_string(seed) + ": " + print(c.assignment) + "\n" +
                 schedule::print(schedule.commands, names) + "\n" + loops);
    ASSERT_NO_THROW(reference::execute(schedule.statement, found));
    ASSERT_TRUE(wanted.at(c.assignment.lhs.tensor) == found.at(c.assignment.lhs.tensor));
  }
  // Every command of the registry took part, most of them often.
  EXPECT_EQ(accepted.size(), std::variant_size_v<Command>);
  for (const auto& [name, times] : accepted) EXPECT_GT(times, 100) << name;
}

}  // namespace
}  // namespace spdistal
