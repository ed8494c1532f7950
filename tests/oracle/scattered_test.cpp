// Results that loops come to out of the order in which they are stored: transposes, and copies from any format to any
// other. Interpreted and compiled, against the dense evaluator.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "codegen/jit.hpp"
#include "oracle/small_statement.hpp"

namespace spdistal {
namespace {

using namespace test;
using lower::Assembly;

const std::vector<std::string> matrices = {"ds", "ds:1,0", "ss", "ss:1,0", "uq", "uq:1,0", "sd", "sd:1,0", "dd"};

Assembly made_by(const SmallStatement& of) { return expect_right(of).assembly; }

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
        SmallStatement of{statement, fmt::format("A:{} B:{}", to, from)};
        EXPECT_TRUE(build(as_case(of, random)).conversions.empty());
        EXPECT_NE(made_by(of), Assembly::Listed);
      }
    }
  EXPECT_EQ(made_by({"A(i,j) = B(j,i)", "A:ds B:ds"}), Assembly::Scattered);
  EXPECT_EQ(made_by({"A(i,j) = B(i,j)", "A:ds B:ds:1,0"}), Assembly::Scattered);
  EXPECT_EQ(made_by({"A(i,j) = B(i,j)", "A:ds:1,0 B:uq"}), Assembly::Scattered);
  EXPECT_EQ(made_by({"A(i,j) = B(j,i) + C(j,i)", "A:ds B:ds C:ss"}), Assembly::Scattered);
  EXPECT_EQ(made_by({"A(i,j) = B(j,i,k) * C(k)", "A:ds B:dss"}), Assembly::Scattered) << "sums are inside";
}

TEST(Scattered, MatricesWithoutElementsAreRight) {
  for (const std::vector<int64_t>& sizes : {std::vector<int64_t>{0, 0}, {0, 5}, {5, 0}, {1, 1}})
    for (const std::string& from : matrices)
      for (const char* statement : {"A(i,j) = B(i,j)", "A(i,j) = B(j,i)"})
        expect_right({statement, fmt::format("A:ds:1,0 B:{}", from), sizes});
}

// Far more places than entries: fewer shares than threads have counts.
TEST(Scattered, MatricesWithManyMoreRowsThanEntriesAreRight) {
  EXPECT_EQ(made_by({"A(i,j) = B(j,i)", "A:ds B:ss", {100, 1}}), Assembly::Scattered);
  EXPECT_EQ(made_by({"A(i,j) = B(j,i)", "A:ds B:ds", {1, 100}}), Assembly::Scattered);
}

TEST(Scattered, TensorsOfTwoDenseLevelsAreRightInAllOrders) {
  for (const char* access : {"i,j,k", "i,k,j", "j,i,k", "j,k,i", "k,i,j", "k,j,i"})
    for (const char* from : {"sss", "dss", "dds", "uqq"})
      for (const char* to : {"dds", "dds:2,0,1"}) {
        Assembly made = made_by({fmt::format("A(i,j,k) = B({})", access), fmt::format("A:{} B:{}", to, from)});
        EXPECT_NE(made, Assembly::Listed) << access;
      }
}

TEST(Scattered, ElementsOfAllTypesAreRight) {
  for (ScalarType type : all_scalar_types) expect_right({"A(i,j) = B(j,i)", "A:ds B:ds", {5, 7}, type});
}

// Entries of a row come in order as long as the loops over the blocks of a column are nested as they were made.
TEST(Scattered, DividedLoopsKeepTheOrderAndReorderedOnesArePacked) {
  auto with = [](const char* schedule) {
    return made_by({"A(i,j) = B(j,i)", "A:ds B:ds", {9, 11}, ScalarType::Float64, schedule});
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
    SmallStatement of{"A(i,j) = B(i,j) + C(j,i)", formats, {6, 6}};
    EXPECT_EQ(build(as_case(of, random)).conversions.size(), 1u) << formats;
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
