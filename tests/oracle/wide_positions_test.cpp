// Results with more entries than narrow positions can count get wide ones. What counts as too many is taken small here,
// so that a matrix of a few entries comes to it; every format of a result, interpreted and compiled, against the dense
// evaluator.
#include <gtest/gtest.h>

#include <random>

#include "codegen/jit.hpp"
#include "execute/call.hpp"
#include "ir/interpret.hpp"
#include "reference/evaluate.hpp"
#include "runtime/device/host_context.hpp"
#include "support/program_case.hpp"
#include "support/random_tensor.hpp"

namespace spdistal {
namespace {

using namespace notation;

struct Assembled {
  std::string statement, tensors;  // "A ds 5 7, B ss 5 7"
  std::string schedule = "";
};

const std::vector<Assembled> assembled = {
    {"A(i,j) = B(i,j) + C(i,j)", "A ds 6 7, B ds 6 7, C ss 6 7"},
    {"A(i,j) = B(i,j) + C(i,j)", "A ss 6 7, B ds 6 7, C ss 6 7", "parallelize(i,CPUThread)"},
    {"A(i,j) = B(i,j) + C(i,j)", "A ds:1,0 6 7, B ds:1,0 6 7, C ds:1,0 6 7"},
    {"A(i,j) = B(i,j) + C(i,j)", "A uq 6 7, B ds 6 7, C ss 6 7"},
    {"A(i,j) = B(i,j) + C(i,j)", "A sd 6 7, B ds 6 7, C ss 6 7"},
    {"A(i,j) = B(i,j)", "A ds 6 7, B ds:1,0 6 7", "reorder(j,i)"},
    {"A(i,j) = B(i,j)", "A ds 6 7, B ds:1,0 6 7", "reorder(j,i); parallelize(j,CPUThread)"},
    {"A(i,j,k) = B(k,i,j)", "A dds 3 4 5, B sss 5 3 4", "reorder(k,i,j)"},
    {"A(i,j) = B(i,k) * C(k,j)", "A ds 6 7, B ds 6 5, C ds 5 7", "reorder(i,k,j); parallelize(i,CPUThread)"},
    {"A(i,j) = B(i,k) * C(k,j)", "A ss 6 7, B ss 6 5, C ss 5 7", "reorder(i,k,j)"},
    {"a(i) = B(i,j) * c(j)", "a s 30, B ss 30 5, c s 5"},
    {"A(i,j,k) = B(i,j,k) + C(i,j,k)", "A sss 3 4 5, B sss 3 4 5, C dss 3 4 5", "parallelize(i,CPUThread)"},
    {"A(i,j,k) = B(i,j,k) + C(i,j,k)", "A dss 3 4 5, B sss 3 4 5, C dss 3 4 5", "parallelize(i,CPUThread)"},
    {"A(i,j,k) = B(i,j,k) + C(i,j,k)", "A dds 3 4 5, B sss 3 4 5, C dss 3 4 5"},
    {"A(i,j,k) = B(i,j,k) + C(i,j,k)", "A uqq 3 4 5, B sss 3 4 5, C dss 3 4 5"},
};

// Small whole numbers, so that sums are exact in any order.
reference::DenseArray draw(std::mt19937_64& random, const std::vector<int64_t>& dims) {
  reference::DenseArray out(ScalarType::Float64, dims);
  auto number = [&](int low, int high) { return std::uniform_int_distribution<int>(low, high)(random); };
  for (Scalar& value : out.values)
    if (number(0, 2) == 0) value = Scalar(double(number(1, 3)));
  return out;
}

test::ProgramCase as_case(const Assembled& from, std::mt19937_64& random) {
  test::ProgramCase out{from.statement, {}, {}};
  std::istringstream tensors(from.tensors);
  for (std::string one; std::getline(tensors, one, ',');) {
    // A mode order has a comma too.
    if (one.find(':') != one.npos) {
      std::string rest;
      std::getline(tensors, rest, ',');
      one += "," + rest;
    }
    std::istringstream words(one);
    std::string name, format;
    words >> name >> format;
    std::vector<int64_t> dims;
    for (int64_t n; words >> n;) dims.push_back(n);
    out.tensors.emplace(
        name, test::TensorCase{Format::parse(format), draw(random, dims), std::vector<bool>(dims.size(), true)});
  }
  if (!from.schedule.empty()) out.commands = {from.schedule};
  return out;
}

using Caller = std::function<void(const Leaf& leaf, spd_call& call)>;
/// How many entries narrow positions hold, for a result that has so many.
using Limits = std::function<std::vector<int64_t>(int64_t entries)>;

// Right for any number of entries that narrow positions hold; they are wide exactly where there are more.
void expect_right(const test::ProgramCase& described, const Limits& limits, const Caller& caller) {
  SCOPED_TRACE(test::describe(described));
  test::BuiltProgram program = test::build(described);
  test::StoredProgram stored(program);
  const Storages& storages = stored.storages;
  reference::Arrays wanted = program.arrays;
  reference::evaluate(program.assignment, wanted);
  auto entries_of = [&](int64_t largest) {
    Leaf leaf(program.statement, storages, LeafOptions{.largest_position = largest});
    int64_t entries = 0;
    // One thread alone does not count where all there may be fits.
    for (int64_t threads : {1, 3}) {
      runtime::HostContext context(threads);
      Storage result = compute(leaf, storages, context, [&](spd_call& call) { caller(leaf, call); });
      EXPECT_TRUE(test::to_array(result) == wanted.at(program.assignment.lhs.tensor)) << "at most " << largest;
      bool packed = leaf.kernel().assembly == lower::Assembly::Listed;
      IndexWidth width = !packed && result.nnz() > largest ? IndexWidth::Int64 : IndexWidth::Int32;
      for (const LevelArrays& level : result.pattern().levels())
        for (const auto& [name, array] : level.arrays) EXPECT_TRUE(name != "pos" || array.width() == width);
      entries = result.nnz();
    }
    return entries;
  };
  int64_t entries = entries_of(std::numeric_limits<int32_t>::max());
  for (int64_t largest : limits(entries)) entries_of(largest);
}

TEST(WidePositions, AreMadeWhereAResultHasMoreEntriesThanNarrowOnesCount) {
  std::mt19937_64 random{5};
  // Twice as many suffice for all there may be.
  auto many = [](int64_t entries) { return std::vector{int64_t(0), entries / 2, entries - 1, entries, 2 * entries}; };
  for (const Assembled& one : assembled)
    for (int repeat = 0; repeat < 3; repeat++)
      expect_right(as_case(one, random), many,
                   [](const Leaf& leaf, spd_call& call) { ir::interpret(leaf.function(), call, ir::Races::Found); });
}

TEST(WidePositions, AreMadeByCompiledKernelsToo) {
  codegen::Jit jit{codegen::JitOptions{}};
  if (!jit.compiles()) GTEST_SKIP() << "there is no compiler";
  std::mt19937_64 random{6};
  // Every limit is a kernel of its own to compile.
  auto one_limit = [](int64_t) { return std::vector{int64_t(2)}; };
  for (const Assembled& one : assembled)
    expect_right(as_case(one, random), one_limit,
                 [&](const Leaf& leaf, spd_call& call) { jit.load(leaf.function())(call); });
}

// The kernel with wide positions is compiled when it is first needed, and kept.
TEST(WidePositions, AreCompiledForOnlyWhereTheyAreNeeded) {
  codegen::Jit jit{codegen::JitOptions{}};
  std::mt19937_64 random{7};
  test::BuiltProgram program = test::build(as_case(assembled[0], random));
  test::StoredProgram stored(program);
  const Storages& storages = stored.storages;
  runtime::HostContext context(1);
  auto loads_of_three_runs = [&](int64_t largest) {
    Leaf leaf(program.statement, storages, LeafOptions{.largest_position = largest});
    int64_t before = jit.loads();
    codegen::Kernel kernel = jit.load(leaf.function());
    for (int run = 0; run < 3; run++) compute(leaf, storages, context, [&](spd_call& call) { kernel(call); });
    return jit.loads() - before;
  };
  EXPECT_EQ(loads_of_three_runs(1000), 1);
  EXPECT_EQ(loads_of_three_runs(2), 2);
}

}  // namespace
}  // namespace spdistal
