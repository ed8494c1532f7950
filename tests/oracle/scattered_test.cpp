// Results that loops come to out of the order in which they are stored: transposes, and copies from any format to any
// other. Interpreted and compiled, against the dense evaluator.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <random>

#include "codegen/jit.hpp"
#include "codegen/memory.hpp"
#include "ir/interpret.hpp"
#include "ir/print.hpp"
#include "ir/verify.hpp"
#include "reference/arithmetic.hpp"
#include "reference/evaluate.hpp"
#include "support/formats.hpp"
#include "support/program_case.hpp"
#include "support/random_tensor.hpp"

namespace spdistal {
namespace {

using namespace notation;
using lower::Assembly;

const std::vector<std::string> matrices = {"ds", "ds:1,0", "ss", "ss:1,0", "uq", "uq:1,0", "sd", "sd:1,0", "dd"};

reference::Array draw(std::mt19937_64& random, const std::vector<int64_t>& dims, ScalarType type) {
  reference::Array out(type, dims);
  auto number = [&](int low, int high) { return std::uniform_int_distribution<int>(low, high)(random); };
  for (size_t k = 0; k < out.values.size(); k++)
    // Some rows are empty.
    if (number(0, 2) == 0 && (k * size_t(dims[0]) / out.values.size()) % 3 != 1)
      out.values[k] = reference::convert(Scalar(double(number(1, 3))), type);
  return out;
}

/// A statement over tensors "A:ds B:sss" whose variables i, j, k have these sizes.
struct Scattered {
  std::string statement, formats;
  std::vector<int64_t> sizes = {5, 7, 4};
  ScalarType type = ScalarType::Float64;
  std::string schedule = {};
};

test::ProgramCase as_case(const Scattered& from, std::mt19937_64& random) {
  test::ProgramCase out{from.statement, {}, {}};
  if (!from.schedule.empty()) out.commands = {from.schedule};
  for (size_t at = 0; at < from.statement.size(); at++) {
    size_t open = at + 1, close = from.statement.find(')', at);
    if (!std::isupper(from.statement[at]) || from.statement[open] != '(') continue;
    std::vector<int64_t> dims;
    for (char c : from.statement.substr(open, close - open))
      if (std::isalpha(c)) dims.push_back(from.sizes[size_t(c - 'i')]);
    std::string name(1, from.statement[at]);
    out.tensors.emplace(name, test::TensorCase{test::format_of(from.formats, name, dims.size()),
                                               draw(random, dims, from.type), std::vector<bool>(dims.size())});
  }
  return out;
}

using Caller = std::function<void(const Leaf& leaf, spd_call& call)>;
void interpreted(const Leaf& leaf, spd_call& call) { ir::interpret(leaf.function(), call, ir::Races::Found); }

// Right with one thread and with three; gives how the result was made.
Assembly expect_right(const Scattered& of, const Caller& caller = interpreted, uint64_t seed = 1) {
  std::mt19937_64 random{seed};
  test::ProgramCase described = as_case(of, random);
  SCOPED_TRACE(test::describe(described));
  test::BuiltProgram program = test::build(described);
  test::StoredProgram stored(program);
  reference::Arrays wanted = program.arrays;
  reference::evaluate(program.assignment, wanted);
  Leaf leaf(program.statement, stored.storages);
  SCOPED_TRACE(ir::print(leaf.kernel().function));
  EXPECT_TRUE(ir::verify(leaf.kernel().function));
  for (int64_t threads : {1, 3}) {
    codegen::HostContext context(threads);
    Storage result = leaf.compute(stored.storages, context, [&](spd_call& call) { caller(leaf, call); });
    EXPECT_TRUE(verify(result));
    EXPECT_TRUE(test::to_array(result) == wanted.at(program.assignment.lhs.tensor)) << threads << " threads";
  }
  return leaf.kernel().assembly;
}

TEST(Scattered, TransposesBetweenAllFormatsOfMatricesAreRight) {
  for (const std::string& to : matrices)
    for (const std::string& from : matrices)
      for (uint64_t seed : {1, 2, 3})
        expect_right({"A(i,j) = B(j,i)", fmt::format("A:{} B:{}", to, from)}, interpreted, seed);
}

TEST(Scattered, CopiesBetweenAllFormatsOfMatricesAreRight) {
  for (const std::string& to : matrices)
    for (const std::string& from : matrices)
      for (uint64_t seed : {1, 2, 3})
        expect_right({"A(i,j) = B(i,j)", fmt::format("A:{} B:{}", to, from)}, interpreted, seed);
}

TEST(Scattered, NothingIsConvertedOrSortedForADenseLevelAboveACompressedOne) {
  std::mt19937_64 random{1};
  for (const char* to : {"ds", "ds:1,0"})
    for (const std::string& from : matrices) {
      SCOPED_TRACE(fmt::format("{} to {}", from, to));
      for (const char* statement : {"A(i,j) = B(i,j)", "A(i,j) = B(j,i)", "A(i,j) = 2 * B(j,i)"}) {
        Scattered of{statement, fmt::format("A:{} B:{}", to, from)};
        EXPECT_TRUE(test::build(as_case(of, random)).conversions.empty());
        EXPECT_NE(expect_right(of), Assembly::Listed);
      }
    }
  EXPECT_EQ(expect_right({"A(i,j) = B(j,i)", "A:ds B:ds"}), Assembly::Scattered);
  EXPECT_EQ(expect_right({"A(i,j) = B(i,j)", "A:ds B:ds:1,0"}), Assembly::Scattered);
  EXPECT_EQ(expect_right({"A(i,j) = B(i,j)", "A:ds:1,0 B:uq"}), Assembly::Scattered);
  EXPECT_EQ(expect_right({"A(i,j) = B(j,i) + C(j,i)", "A:ds B:ds C:ss"}), Assembly::Scattered);
  EXPECT_EQ(expect_right({"A(i,j) = B(j,i,k) * C(k)", "A:ds B:dss"}), Assembly::Scattered) << "sums are inside";
}

TEST(Scattered, MatricesWithoutElementsAreRight) {
  for (const std::vector<int64_t>& sizes : {std::vector<int64_t>{0, 0}, {0, 5}, {5, 0}, {1, 1}})
    for (const std::string& from : matrices)
      for (const char* statement : {"A(i,j) = B(i,j)", "A(i,j) = B(j,i)"})
        expect_right({statement, fmt::format("A:ds:1,0 B:{}", from), sizes});
}

// Far more places than entries: fewer shares than threads have counts.
TEST(Scattered, MatricesWithManyMoreRowsThanEntriesAreRight) {
  EXPECT_EQ(expect_right({"A(i,j) = B(j,i)", "A:ds B:ss", {100, 1}}), Assembly::Scattered);
  EXPECT_EQ(expect_right({"A(i,j) = B(j,i)", "A:ds B:ds", {1, 100}}), Assembly::Scattered);
}

TEST(Scattered, TensorsOfTwoDenseLevelsAreRightInAllOrders) {
  for (const char* access : {"i,j,k", "i,k,j", "j,i,k", "j,k,i", "k,i,j", "k,j,i"})
    for (const char* from : {"sss", "dss", "dds", "uqq"})
      for (const char* to : {"dds", "dds:2,0,1"}) {
        Assembly made = expect_right({fmt::format("A(i,j,k) = B({})", access), fmt::format("A:{} B:{}", to, from)});
        EXPECT_NE(made, Assembly::Listed) << access;
      }
}

TEST(Scattered, ElementsOfAllTypesAreRight) {
  for (ScalarType type : all_scalar_types) expect_right({"A(i,j) = B(j,i)", "A:ds B:ds", {5, 7}, type});
}

// Entries of a row come in order as long as the loops over the blocks of a column are nested as they were made.
TEST(Scattered, DividedLoopsKeepTheOrderAndReorderedOnesArePacked) {
  auto with = [](const char* schedule) {
    return expect_right({"A(i,j) = B(j,i)", "A:ds B:ds", {9, 11}, ScalarType::Float64, schedule});
  };
  EXPECT_EQ(with("divide(j,jo,ji,3); parallelize(jo,CPUThread)"), Assembly::Scattered);
  EXPECT_EQ(with("split(i,io,ii,2); reorder(io,j,ii)"), Assembly::Scattered) << "rows may come in any order";
  EXPECT_EQ(with("split(j,jo,ji,2); split(ji,jio,jii,1); reorder(jo,jio,i,jii)"), Assembly::Scattered);
  EXPECT_EQ(with("split(j,jo,ji,2); reorder(ji,jo,i)"), Assembly::Listed);
  EXPECT_EQ(with("fuse(j,i,f); pos(f,fp,B(j,i))"), Assembly::Listed);
}

TEST(Scattered, OperandsThatNoOrderSuitsAreConvertedByLoopsOfTheirOwn) {
  for (const char* formats : {"A:ds B:ds C:ds", "A:ss B:ss C:ss", "A:ds B:ds C:ss", "A:uq B:uq C:uq"}) {
    std::mt19937_64 random{3};
    Scattered of{"A(i,j) = B(i,j) + C(j,i)", formats, {6, 6}};
    EXPECT_EQ(test::build(as_case(of, random)).conversions.size(), 1u) << formats;
    expect_right(of);
  }
}

TEST(Scattered, CompiledKernelsAreRightToo) {
  codegen::Jit jit{codegen::JitOptions{}};
  if (!jit.compiles()) GTEST_SKIP() << "there is no compiler";
  auto compiled = [&](const Leaf& leaf, spd_call& call) { jit.load(leaf.function())(call); };
  for (const char* formats : {"A:ds B:ds", "A:ds B:ss", "A:ds:1,0 B:uq:1,0"})
    expect_right({"A(i,j) = B(j,i)", formats, {60, 70}}, compiled);
  expect_right({"A(i,j,k) = B(k,j,i)", "A:dds B:sss", {10, 12, 14}}, compiled);
  expect_right({"A(i,j) = B(i,j) + C(j,i)", "A:ds B:ds C:ds", {60, 60}}, compiled);
  expect_right({"A(i,j) = B(j,i)", "A:ds B:ds", {20, 30}, ScalarType::Complex64}, compiled);
}

}  // namespace
}  // namespace spdistal
