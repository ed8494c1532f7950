// Kernels against the dense evaluator: random statements, formats, orders and schedules through the interpreter.
#include <gtest/gtest.h>

#include <cstdlib>
#include <random>

#include "codegen/memory.hpp"
#include "driver/leaf.hpp"
#include "ir/interpret.hpp"
#include "ir/print.hpp"
#include "ir/verify.hpp"
#include "notation/concretize.hpp"
#include "notation/parse.hpp"
#include "reference/evaluate.hpp"
#include "schedule/print.hpp"
#include "support/random_schedule.hpp"
#include "support/random_tensor.hpp"
#include "tensor/storage.hpp"

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
    "A(i,j) = B(i,j)",
    "A(i,j) = B(j,i)",
    "A(i,j) = B(i,k) * C(k,j)",
    "A(i,j) = B(i,k) * B(k,j)",
    "A(i,j) = B(k,i) * C(k,j)",
    "A(i,j) = B(i,j) + C(i,j) + D(i,j)",
    "A(i,j) = B(i,j) * C(i,j) * D(i,j)",
    "A(i,j) = B(i,j) * C(i,j) + D(i,j)",
    "A(i,j) = B(i,j) * (C(i,j) + D(i,j))",
    "A(i,j) = B(i,j) - C(j,i)",
    "A(i,j) = 2 * B(i,j) - C(j,i)",
    "A(i,j) = B(i,j) * C(i,k) * D(k,j)",
    "A(i,j) = B(i,j,k) * c(k)",
    "A(i,l) = B(i,j,k) * C(j,l) * D(k,l)",
    "A(i,j,k) = B(i,j,k) + C(i,j,k)",
    "A(i,j,l) = B(i,j,k) * C(k,l)",
    "s = b(i) * c(i)",
    "s = B(i,j) * C(i,j)",
    "s = B(i,j,k) * C(i,j,k)",
    "s = sqrt(b(i) * b(i))",
    "a(i) = B(i,i)",
    "a(i) = B(i,j) * c(j) * (d(k) * e(k))",
    "A(i,j) = b(i) * c(j)",
    "x(i) = B(i,j) * x(j)",
    "a(i) = (B(i,k) + C(i,k)) * d(k)",
    "A(i,j) = (B(i,k) + C(i,k)) * D(k,j)",
    "A(i,l) = B(i,j) * C(j,k) * D(k,l)",
    "a(i) = max(b(i), 0) * min(c(i), 2)",
    "A(i,j) = B(i,j) + 2",
    "A(i,j) = max(B(i,j), 3)",
    "A(i,j) = abs(B(i,j)) + -C(i,j)",
    "a(i) = sum(j, B(i,j)) + sum(j, C(i,j))",
    "y(i) = b(i) - A(i,j) * x(j)",
    "y(i) = 2 * A(j,i) * x(j) + 3 * z(i)",
};

bool is_constant_shift(const std::string& text) {
  return text.find("+ 2") != text.npos || text.find("max(B(i,j), 3)") != text.npos;
}

struct Case {
  Assignment assignment;
  reference::Arrays arrays;
};

Case draw_case(std::mt19937_64& random) {
  auto number = [&](int64_t low, int64_t high) { return std::uniform_int_distribution<int64_t>(low, high)(random); };
  const std::string& text = statements[size_t(number(0, int64_t(statements.size()) - 1))];
  bool first = true, dense_result = is_constant_shift(text) || text.find("+=") != text.npos;
  int64_t n = number(0, 9) == 0 ? number(0, 1) : number(2, 4);
  bool dense_only = number(0, 9) == 0;
  Scope scope;
  scope.declare = [&](const Lexer&, const Token& name, const std::vector<IndexVar>& indices) {
    std::vector<Extent> dims;
    for (size_t d = 0; d < indices.size(); d++) {
      if (number(0, 1)) dims.push_back(n);
      else {
        Param p;
        p = n;
        dims.push_back(p);
      }
    }
    Format format = test::draw_format(random, indices.size());
    if ((first && dense_result) || dense_only) format = dense_format(indices.size());
    first = false;
    return TensorVar({Symbol(std::string(name.text)), ScalarType::Float64, dims, format});
  };
  Assignment assignment = parse_assignment(text, scope);
  Case out{assignment, {}};
  for (const TensorVar& tensor : tensors(assignment)) {
    reference::Array array(tensor.type(), std::vector<int64_t>(tensor.order(), n));
    for (Scalar& value : array.values)
      if (tensor.format().is_dense() || number(0, 2) == 0) value = double(number(-3, 3));
    out.arrays.emplace(tensor, array);
  }
  return out;
}

TEST(Leaf, AgreesWithTheDenseEvaluatorOnRandomProgramsThroughTheInterpreter) {
  int cases = std::getenv("FULL_TESTS") ? 200000 : 20000;
  int from = std::getenv("SEED") ? std::atoi(std::getenv("SEED")) : 1;
  if (std::getenv("SEED")) cases = from;
  std::map<lower::Assembly, int> kinds;
  for (int seed = from; seed <= cases; seed++) {
    std::mt19937_64 random{uint64_t(seed)};
    Case c = draw_case(random);
    ConcreteStatement concrete = concretize(c.assignment).value();
    bool scheduled = seed % 3 == 0;
    test::RandomSchedule schedule = test::draw_schedule(random, concrete, scheduled ? 12 : 0);
    Printer names;
    std::string loops = names(schedule.statement), formats;
    for (const auto& [tensor, array] : c.arrays) formats += names.name(tensor) + ":" + tensor.format().str() + " ";
    SCOPED_TRACE("seed " + std::to_string(seed) + ": " + print(c.assignment) + "  " + formats + "\n" + loops);

    std::map<TensorVar, Storage> stored;
    Storages storages;
    for (const auto& [tensor, array] : c.arrays) stored.emplace(tensor, test::to_storage(array, tensor.format()));
    for (const auto& [tensor, storage] : stored) storages.emplace(tensor, &storage);
    reference::Arrays wanted = c.arrays;
    reference::evaluate(c.assignment, wanted);
    try {
      Leaf leaf(schedule.statement, storages);
      kinds[leaf.kernel().assembly]++;
      SCOPED_TRACE(ir::print(leaf.kernel().function));
      if (Result<> legal = ir::verify(leaf.kernel().function); !legal) FAIL() << legal.refusal().str();
      codegen::HostContext context(int64_t(1 + seed % 3));
      Storage result = leaf.compute(storages, context, [&](spd_call& call) { ir::interpret(leaf.function(), call); });
      if (Result<> sound = verify(result); !sound) FAIL() << sound.refusal().str();
      ASSERT_TRUE(test::to_array(result) == wanted.at(c.assignment.lhs.tensor));
    } catch (const std::exception& error) { FAIL() << error.what(); }
  }
  for (auto kind :
       {lower::Assembly::Dense, lower::Assembly::Shared, lower::Assembly::Appended, lower::Assembly::Listed})
    if (cases > 1000) { EXPECT_GT(kinds[kind], 100); }
}

}  // namespace
}  // namespace spdistal
