// Which loops a routine fits, and what is said of those that it does not.
#include <gtest/gtest.h>

#include "notation/concretize.hpp"
#include "notation/parse.hpp"
#include "notation/print.hpp"
#include "routine/match.hpp"
#include "support/formats.hpp"
#include "support/own_leaves.hpp"

namespace spdistal {
namespace {

using namespace notation;
using routine::RoutineMatch;

Result<RoutineMatch> matched(const std::string& name, const std::string& statement, const std::string& formats = {},
                             ScalarType type = ScalarType::Float64) {
  test::register_own_leaves();
  ParseScope scope;
  scope.declare = [&](const Lexer&, const Token& tensor, const std::vector<IndexVar>& indices) {
    return TensorVar({Symbol(std::string(tensor.text)), type, std::vector<Extent>(indices.size(), 8),
                      test::format_of(formats, tensor.text, indices.size())});
  };
  return routine::match(name, concretize(parse_assignment(statement, scope)).value().body);
}

// "A B C: 0 1, 1 0, 0 1": the tensors in the places of the routine's, and the levels of each.
std::string shown(const Result<RoutineMatch>& match) {
  if (!match) return match.refusal().message;
  std::string out, levels;
  for (const routine::MatchedTensor& tensor : match->tensors) {
    out += (out.empty() ? "" : " ") + Printer().name(tensor.access.tensor);
    levels += levels.empty() ? ":" : ",";
    for (size_t level : tensor.levels) levels += " " + std::to_string(level);
  }
  return out + levels;
}

TEST(Match, KnowsProductsWhateverTheirNamesAre) {
  EXPECT_EQ(shown(matched("own", "A(i,j) = B(i,k) * C(k,j)")), "A B C: 0 1, 0 1, 0 1");
  EXPECT_EQ(shown(matched("own", "X(p,q) = Y(p,r) * Z(r,q)")), "X Y Z: 0 1, 0 1, 0 1");
  EXPECT_EQ(shown(matched("own", "A(i,j) += B(i,k) * C(k,j)")), "A B C: 0 1, 0 1, 0 1");
}

// The factor whose variable the result has first is B; of two such orders either is right.
TEST(Match, TakesFactorsAndDimensionsInAnyOrder) {
  for (const char* text : {"A(i,j) = C(k,j) * B(i,k)", "A(i,j) = B(k,i) * C(k,j)", "A(i,j) = B(i,k) * C(j,k)",
                           "A(j,i) = B(i,k) * C(k,j)"}) {
    Result<RoutineMatch> match = matched("own", text);
    ASSERT_TRUE(match) << text << shown(match);
    EXPECT_EQ(match->tensors.size(), 3u);
  }
  EXPECT_EQ(shown(matched("own", "A(i,j) = B(k,i) * C(k,j)")), "A B C: 0 1, 1 0, 0 1");
  EXPECT_EQ(shown(matched("own", "A(i,j) = B(i,k) * C(k,j)", "B:dd:1,0")), "A B C: 0 1, 1 0, 0 1");
  EXPECT_EQ(shown(matched("own", "A(i,j) = D(k,j) * (B(i,j) * C(i,k))", "A:ds B:ds")), "A B C D: 0 1, 0 1, 0 1, 0 1");
}

TEST(Match, ComparesSparseTensorsLevelByLevel) {
  EXPECT_EQ(shown(matched("own", "a(i) = B(i,j) * c(j)", "B:ds")), "a B c: 0, 0 1, 0");
  EXPECT_EQ(shown(matched("own", "a(i) = B(j,i) * c(j)", "B:ds:1,0")), "a B c: 0, 0 1, 0");
  EXPECT_EQ(shown(matched("own", "a(i) = B(i,j) * c(j)", "B:ds:1,0")),
            "own does not fit these loops: B is stored as ds:1,0");
}

TEST(Match, TakesOneTensorInSeveralPlaces) {
  EXPECT_EQ(shown(matched("own", "A(i,j) = B(i,k) * B(k,j)")), "A B B: 0 1, 0 1, 0 1");
  EXPECT_EQ(shown(matched("own", "A(i,j) = B(i,k) * B(j,k)")), "A B B: 0 1, 0 1, 1 0");
}

TEST(Match, TakesEveryLevelOfADiagonalOnce) {
  register_leaf({.name = "diagonal", .statement = "a(i) = B(i,i)", .run = [](const LeafPiece&) {}});
  EXPECT_EQ(shown(matched("diagonal", "a(i) = B(i,i)")), "a B: 0, 0 1");
  EXPECT_FALSE(matched("diagonal", "a(i) = B(i,j)"));
}

TEST(Match, TellsWhatDiffers) {
  EXPECT_EQ(shown(matched("gemm", "A(i,j) = B(i,k) * C(k,j)", "B:ds")),
            "gemm does not fit these loops: B is stored as ds");
  EXPECT_EQ(shown(matched("gemm", "A(i,j) = B(i,k) * C(k,j)", "", ScalarType::Int32)),
            "gemm does not fit these loops: A is of int32");
  EXPECT_EQ(shown(matched("gemm", "a(i) = B(i,j) * c(j)")),
            "gemm does not fit these loops: they compute a(i) += B(i,j) * c(j)");
  EXPECT_EQ(shown(matched("gemm", "A(i,j) = 2 * B(i,k) * C(k,j)")),
            "gemm does not fit these loops: they compute A(i,j) += 2 * B(i,k) * C(k,j)");
  EXPECT_EQ(shown(matched("gemm", "A(i,j) = B(i,k) * C(k,j) + D(i,j)")),
            "gemm does not fit these loops: they hold more than one assignment");
  EXPECT_FALSE(matched("gemm", "A(i,j) = B(i,k+1) * C(k,j)"));
  EXPECT_FALSE(matched("gemm", "A(i,i) = B(i,k) * C(k,i)"));
  EXPECT_FALSE(matched("gemm", "A(i,j) = min(k, B(i,k) * C(k,j))"));
  EXPECT_FALSE(matched("gemm", "A(i,j) = B(i,k) / C(k,j)"));
}

TEST(Match, TellsWhatIsExpected) {
  EXPECT_EQ(matched("gemm", "a(i) = b(i)").refusal().hint,
            "gemm computes A(i,j) = B(i,k) * C(k,j) of dense tensors, all of float, double, complex64 or complex128, "
            "on the CPU");
  EXPECT_EQ(matched("cusparse", "a(i) = b(i)").refusal().hint,
            "cusparse computes a(i) = B(i,j) * c(j) with B stored as ds and the others dense, all of float, double, "
            "complex64 or "
            "complex128; or A(i,j) = B(i,k) * C(k,j) with B stored as ds and the others dense, all of float, double, "
            "complex64 or "
            "complex128; or A(i,j) = B(i,j) * C(i,k) * D(k,j) with A stored as ds and B stored as ds and the others "
            "dense, all of "
            "float, double, complex64 or complex128, on the GPU");
}

}  // namespace
}  // namespace spdistal
