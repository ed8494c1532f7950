// Results that operands bound: one thread fills them in place, several in parts that are put behind each other. Against the
// dense evaluator, with races looked for.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "codegen/jit.hpp"
#include "oracle/small_statement.hpp"

namespace spdistal {
namespace {

using namespace test;

// How many arrays its shares append to; the levels that are not dense have two each.
int appended_arrays(const lower::Lowered& kernel) {
  int count = 0;
  each<ir::Append>(kernel.function.body, [&](const ir::Append&) { count++; });
  return count;
}

const std::vector<std::pair<const char*, const char*>> sums = {
    {"A(i,j) = B(i,j) + C(i,j)", "ds"},
    {"A(i,j) = B(i,j) * C(i,j)", "ds"},
    {"A(i,j) = B(i,j) - C(i,j)", "ds:1,0"},
    {"A(i,j) = B(i,j) + C(i,j) * D(i,j)", "ds"},
    {"A(i,j,k) = B(i,j,k) + C(i,j,k)", "dss"},
    {"A(i,j,k) = B(i,j,k) * C(i,j,k)", "dss"},
    {"A(i,j,k) = B(i,j,k) + C(i,j,k) - D(i,j,k)", "dss:2,0,1"},
};

SmallStatement sum(const char* statement, const char* format) {
  return {statement, fmt::format("A:{0} B:{0} C:{0} D:{0}", format)};
}

TEST(Sums, AreRightAndMadeInParts) {
  for (const auto& [statement, format] : sums)
    for (uint64_t seed : {1, 2, 3, 4, 5}) {
      lower::Lowered kernel = expect_right(sum(statement, format), interpreted, seed);
      EXPECT_EQ(appended_arrays(kernel), std::string_view(format).starts_with("dss") ? 4 : 2) << statement;
    }
}

TEST(Sums, OfNothingAreRight) {
  for (const auto& [statement, format] : sums)
    for (const std::vector<int64_t>& sizes : {std::vector<int64_t>{0, 0, 0}, {0, 5, 4}, {5, 0, 4}, {200, 1, 1}}) {
      SmallStatement of = sum(statement, format);
      of.sizes = sizes;
      expect_right(of);
    }
}

TEST(Sums, OfAllTypesAreRight) {
  for (ScalarType type : all_scalar_types) {
    SmallStatement of = sum("A(i,j,k) = B(i,j,k) + C(i,j,k)", "dss");
    of.type = type;
    expect_right(of);
  }
}

TEST(Sums, CompiledAreRightToo) {
  codegen::Jit jit{codegen::JitOptions{}};
  if (!jit.compiles()) GTEST_SKIP() << "there is no compiler";
  auto compiled = [&](const Leaf& leaf, spd_call& call) { jit.load(leaf.function())(call); };
  for (const auto& [statement, format] : sums) {
    SmallStatement of = sum(statement, format);
    of.sizes = {40, 30, 20};
    expect_right(of, compiled);
  }
}

}  // namespace
}  // namespace spdistal
