// Kernels on pieces of statements that have a name against the dense evaluator, each its own test; and how kernels for
// pieces differ from those for whole tensors.
#include <gtest/gtest.h>

#include <cstdlib>
#include <random>

#include "codegen/jit.hpp"
#include "notation/concretize.hpp"
#include "notation/parse.hpp"
#include "oracle/named_pieces.hpp"
#include "schedule/parse.hpp"
#include "support/formats.hpp"

namespace spdistal {
namespace {

using namespace notation;
using test::check_named;
using test::name_of;
using test::Named;
using test::Sizes;

class InParts : public ::testing::TestWithParam<Named> {};

TEST_P(InParts, AreRight) {
  for (uint64_t seed = 1; seed <= 30 && !HasFailure(); seed++) try {
      check_named(GetParam(), seed, test::interpreted);
    } catch (const std::exception& error) { FAIL() << "seed " << seed << ": " << error.what(); }
}

const std::string rows = "divide(i,io,ii,M.x); distribute(io); parallelize(ii,CPUThread)";
const std::string matrix_positions =
    "fuse(i,j,f); pos(f,fp,B(i,j)); divide(fp,fo,fi,M.x); distribute(fo); parallelize(fi,CPUThread)";

std::vector<Named> by_rows() {
  std::vector<Named> out;
  for (const auto& [name, format] : {std::pair<std::string, std::string>{"CSR", "ds"},
                                     {"CSC", "ds:1,0"},
                                     {"DCSR", "ss"},
                                     {"COO", "uq"},
                                     {"SparseRows", "sd"},
                                     {"Dense", "dd"}}) {
    auto formats = [format = format](const std::string& a, const std::string& more) {
      return a + "B:" + format + more;
    };
    out.push_back({"SpMVOf" + name, "a(i) = B(i,j) * c(j)", formats("", ""), "reorder(i,j); " + rows});
    out.push_back(
        {"SpMVIntoASparseVectorOf" + name, "a(i) = B(i,j) * c(j)", formats("a:s ", ""), "reorder(i,j); " + rows});
    out.push_back({"SpMMOf" + name, "A(i,j) = B(i,k) * C(k,j)", formats("", ""), "reorder(i,k,j); " + rows});
    out.push_back(
        {"SpGEMMIntoCSROf" + name, "A(i,j) = B(i,k) * C(k,j)", formats("A:ds ", " C:ds"), "reorder(i,k,j); " + rows});
    out.push_back(
        {"SpGEMMIntoDCSROf" + name, "A(i,j) = B(i,k) * C(k,j)", formats("A:ss ", " C:ss"), "reorder(i,k,j); " + rows});
    out.push_back({"SpGEMMIntoCSCOf" + name, "A(i,j) = B(i,k) * C(k,j)", formats("A:ds:1,0 ", " C:ds"),
                   "reorder(i,k,j); " + rows});
    out.push_back({"SDDMMIntoCSROf" + name, "A(i,j) = B(i,j) * C(i,k) * D(k,j)", formats("A:ds ", ""),
                   "reorder(i,j,k); " + rows});
    out.push_back({"SDDMMIntoTheSameOf" + name, "A(i,j) = B(i,j) * C(i,k) * D(k,j)", formats("A:" + format + " ", ""),
                   "reorder(i,j,k); " + rows});
    out.push_back({"SpAdd3IntoCSROf" + name, "A(i,j) = B(i,j) + C(i,j) + D(i,j)", formats("A:ds ", " C:ds D:ss"),
                   "reorder(i,j); " + rows});
    out.push_back({"SpAdd3IntoDenseOf" + name, "A(i,j) = B(i,j) + C(i,j) + D(i,j)", formats("", " C:ds D:ss"),
                   "reorder(i,j); " + rows});
    out.push_back({"ACopyIntoCSCOf" + name, "A(i,j) = B(i,j)", formats("A:ds:1,0 ", ""), "reorder(i,j); " + rows});
    out.push_back({"ATransposeIntoCSROf" + name, "A(i,j) = B(j,i)", formats("A:ds ", ""), "reorder(i,j); " + rows});
  }
  return out;
}
INSTANTIATE_TEST_SUITE_P(ByRows, InParts, ::testing::ValuesIn(by_rows()), name_of);

std::vector<Named> by_positions() {
  std::vector<Named> out;
  for (const auto& [name, format] : {std::pair<std::string, std::string>{"CSR", "ds"},
                                     {"DCSR", "ss"},
                                     {"COO", "uq"},
                                     {"SparseRows", "sd"},
                                     {"Dense", "dd"}}) {
    auto formats = [format = format](const std::string& a) { return a + "B:" + format; };
    out.push_back({"SpMVOf" + name, "a(i) = B(i,j) * c(j)", formats(""), "reorder(i,j); " + matrix_positions});
    out.push_back({"SpMVIntoASparseVectorOf" + name, "a(i) = B(i,j) * c(j)", formats("a:s "),
                   "reorder(i,j); " + matrix_positions});
    out.push_back({"SpMMOf" + name, "A(i,k) = B(i,j) * C(j,k)", formats(""), "reorder(i,j,k); " + matrix_positions});
    out.push_back(
        {"SpGEMMOf" + name, "A(i,k) = B(i,j) * C(j,k)", formats("A:ds C:ds "), "reorder(i,j,k); " + matrix_positions});
    out.push_back({"SDDMMOf" + name, "A(i,j) = B(i,j) * C(i,k) * D(k,j)", formats("A:" + format + " "),
                   "reorder(i,j,k); " + matrix_positions});
    out.push_back(
        {"ACopyIntoCSCOf" + name, "A(i,j) = B(i,j)", formats("A:ds:1,0 "), "reorder(i,j); " + matrix_positions});
  }
  std::string all = "fuse(j,k,jk); fuse(i,jk,f); pos(f,fp,B(i,j,k)); divide(fp,fo,fi,M.x); distribute(fo)";
  std::string fibres = "fuse(i,j,f); pos(f,fp,B(i,j,k)); divide(fp,fo,fi,M.x); distribute(fo)";
  for (const std::string format : {"sss", "dss", "uqq", "dds", "ssd", "dsd", "ddd"}) {
    out.push_back({"SpTTVOf" + format, "A(i,j) = B(i,j,k) * c(k)", "B:" + format, all});
    out.push_back({"SpTTVIntoDCSROf" + format, "A(i,j) = B(i,j,k) * c(k)", "A:ss B:" + format, all});
    out.push_back(
        {"MTTKRPOf" + format, "A(i,l) = B(i,j,k) * C(j,l) * D(k,l)", "B:" + format, "reorder(i,j,k,l); " + all});
    out.push_back({"MTTKRPByThreadsOf" + format, "A(i,l) = B(i,j,k) * C(j,l) * D(k,l)", "B:" + format,
                   "reorder(i,j,k,l); " + all + "; split(fi,fio,fii,3); parallelize(fio,CPUThread)"});
    out.push_back({"ContractionByThreadsOf" + format, "a(i) = B(i,j,k) * c(k)", "B:" + format,
                   all + "; parallelize(fi,CPUThread)"});
  }
  for (const std::string format : {"sss", "dss"})
    out.push_back({"SpTTVByFibresOf" + format, "A(i,j) = B(i,j,k) * c(k)", "A:ss B:" + format, fibres});
  out.push_back({"SpTTVByRowsThatAreStored", "A(i,j) = B(i,j,k) * c(k)", "A:ss B:sss",
                 "pos(i,ip,B(i,j,k)); divide(ip,io,ii,M.x); distribute(io)"});
  return out;
}
INSTANTIATE_TEST_SUITE_P(ByPositions, InParts, ::testing::ValuesIn(by_positions()), name_of);

std::vector<Named> in_other_ways() {
  return {
      {"SpMVByColumns", "a(i) = B(i,j) * c(j)", "B:ds", "divide(j,jo,ji,M.x); reorder(jo,i,ji); distribute(jo)"},
      {"SpMVByColumnsOfCSC", "a(i) = B(i,j) * c(j)", "B:ds:1,0",
       "divide(j,jo,ji,M.x); reorder(jo,ji,i); distribute(jo)"},
      {"SpMVByTiles", "a(i) = B(i,j) * c(j)", "B:ds",
       "divide(i,io,ii,M.x); divide(j,jo,ji,M.y); reorder(io,jo,ii,ji); distribute({io,jo})", 2},
      {"SpMVByTilesOfCOO", "a(i) = B(i,j) * c(j)", "B:uq",
       "divide(i,io,ii,M.x); divide(j,jo,ji,M.y); reorder(io,jo,ii,ji); distribute({io,jo})", 2},
      {"SpMVByEveryFourthRow", "a(i) = B(i,j) * c(j)", "B:ds", "split(i,io,ii,4); reorder(ii,io,j); distribute(ii)"},
      {"AnIncrementByRows", "a(i) += B(i,j) * c(j)", "B:ds", "reorder(i,j); " + rows},
      {"SpMMByTiles", "A(i,j) = B(i,k) * C(k,j)", "B:ds",
       "reorder(i,k,j); divide(i,io,ii,M.x); divide(j,jo,ji,M.y); reorder(io,jo,ii,k,ji); distribute({io,jo})", 2},
      {"SpGEMMByTiles", "A(i,j) = B(i,k) * C(k,j)", "A:ds B:ds C:ds",
       "reorder(i,k,j); divide(i,io,ii,M.x); divide(j,jo,ji,M.y); reorder(io,jo,ii,k,ji); distribute({io,jo})", 2},
      {"SpGEMMByWhatIsSummed", "A(i,j) = B(i,k) * C(k,j)", "A:ds B:ds C:ds",
       "divide(k,ko,ki,M.x); reorder(ko,i,ki,j); distribute(ko)"},
      {"TheSquareOfAMatrixByRows", "A(i,j) = B(i,k) * B(k,j)", "A:ds B:ds", "reorder(i,k,j); " + rows, 1, Sizes::Same},
      {"TheSquareOfAMatrixByPositions", "A(i,j) = B(i,k) * B(k,j)", "A:ds B:ds",
       "reorder(i,k,j); fuse(i,k,f); pos(f,fp,B(i,k)); divide(fp,fo,fi,M.x); distribute(fo)", 1, Sizes::Same},
      {"SUMMAOfDenseMatrices", "A(i,j) = B(i,k) * C(k,j)", "",
       "divide(i,io,ii,M.x); divide(j,jo,ji,M.y); divide(k,ko,ki,M.x); reorder(io,jo,ko,ii,ji,ki); "
       "distribute({io,jo})",
       3},
      {"SUMMAOfSparseMatrices", "A(i,j) = B(i,k) * C(k,j)", "A:ds B:ds C:ds",
       "divide(i,io,ii,M.x); divide(j,jo,ji,M.y); divide(k,ko,ki,M.x); reorder(io,jo,ko,ii,ki,ji); "
       "distribute({io,jo})",
       3},
      {"CannonOfDenseMatrices", "A(i,j) = B(i,k) * C(k,j)", "",
       "divide(i,io,ii,M.x); divide(j,jo,ji,M.y); divide(k,ko,ki,M.x); reorder(io,jo,ko,ii,ji,ki); "
       "rotate(ko,{io,jo},kos); distribute({io,jo})",
       3},
      {"MTTKRPOfCSFByRows", "A(i,l) = B(i,j,k) * C(j,l) * D(k,l)", "B:sss",
       "reorder(i,j,k,l); divide(i,io,ii,M.x); distribute(io)"},
      {"MTTKRPByTheMiddleDimension", "A(i,l) = B(i,j,k) * C(j,l) * D(k,l)", "B:dss",
       "reorder(i,j,k,l); divide(j,jo,ji,M.x); reorder(jo,i,ji,k,l); distribute(jo)"},
      {"TheInnerProductOfSparseTensors", "s = B(i,j,k) * C(i,j,k)", "B:sss C:dss", rows},
      {"PositionsBelowRows", "a(i) = B(i,j) * c(j)", "B:ds",
       "divide(i,io,ii,M.x); distribute(io); pos(j,jp,B(i,j)); split(jp,jpo,jpi,2)"},
      {"PositionsOfARowOneByOne", "a(i) = B(i,j) * c(j)", "B:ds", "pos(j,jp,B(i,j)); distribute({i,jp})", 2},
      {"PositionsOfARowInHalves", "a(i) = B(i,j) * c(j)", "B:ds",
       "pos(j,jp,B(i,j)); divide(jp,jpo,jpi,2); distribute({i,jpo})", 2},
      {"EveryOtherPosition", "A(i,j) = B(i,j)", "B:ds",
       "fuse(i,j,f); pos(f,fp,B(i,j)); split(fp,fo,fi,2); reorder(fi,fo)", 0},
      {"EveryOtherPositionInPieces", "A(i,j) = B(i,j)", "B:ds",
       "fuse(i,j,f); pos(f,fp,B(i,j)); split(fp,fo,fi,2); reorder(fi,fo); distribute(fi)"},
      {"PositionsFusedWithALoop", "A(i,j) = b(i) * C(i,j)", "b:s", "pos(i,p,b(i)); fuse(p,j,f)", 0},
      {"PositionsFusedWithALoopInPieces", "A(i,j) = b(i) * C(i,j)", "b:s",
       "pos(i,p,b(i)); fuse(p,j,f); divide(f,fo,fi,M.x); distribute(fo)"},
  };
}
INSTANTIATE_TEST_SUITE_P(InOtherWays, InParts, ::testing::ValuesIn(in_other_ways()), name_of);

TEST(Pieces, AreRightWhenCompiled) {
  codegen::Jit jit{codegen::JitOptions{}};
  if (!jit.compiles()) GTEST_SKIP() << "there is no compiler";
  std::vector<Named> all = in_other_ways();
  for (const std::vector<Named>& more : {by_rows(), by_positions()}) all.insert(all.end(), more.begin(), more.end());
  size_t step = std::getenv("FULL_TESTS") ? 1 : 7;
  for (size_t k = 0; k < all.size() && !HasFailure(); k += step) try {
      SCOPED_TRACE(all[k].name);
      check_named(all[k], 7, [&](const Leaf& leaf) -> RunKernel {
        return [kernel = jit.load(leaf.function())](spd_call& call) { kernel(call); };
      });
    } catch (const std::exception& error) { FAIL() << all[k].name << ": " << error.what(); }
}

// ---- how, not what --------------------------------------------------------------------------------------------------------

Leaf leaf_by_rows(const std::string& statement, const std::string& formats, const std::string& schedule) {
  ParseScope scope;
  scope.declare = [&](const Lexer&, const Token& name, const std::vector<IndexVar>& indices) {
    return TensorVar({Symbol(std::string(name.text)), ScalarType::Float64, std::vector<Extent>(indices.size(), 32),
                      test::format_of(formats, name.text, indices.size())});
  };
  Assignment assignment = parse_assignment(statement, scope);
  Machine machine{Grid(Param("p"))};
  ConcreteStatement scheduled =
      schedule::apply_text(schedule, {scope, &machine}, concretize(assignment).value()).statement;
  return Leaf(scheduled, [](const notation::Access&) { return lower::IndexWidths{}; },
              {.outer = test::first_loops(scheduled, 1), .operands = lower::Operands::Pieces});
}

TEST(Pieces, ByRowsAssignEveryElementOfADenseResultWithoutZeroingItFirst) {
  EXPECT_FALSE(leaf_by_rows("a(i) = B(i,j) * c(j)", "B:ds", rows).kernel().fill_first);
  EXPECT_FALSE(leaf_by_rows("A(i,j) = B(i,k) * C(k,j)", "B:ds", "reorder(i,k,j); " + rows).kernel().fill_first);
  EXPECT_TRUE(leaf_by_rows("a(i) = B(i,j) * c(j)", "B:ds", matrix_positions).kernel().fill_first);
}

TEST(Pieces, ByRowsAppendASparseResult) {
  for (const std::string statement : {"A(i,j) = B(i,k) * C(k,j)", "A(i,j) = B(i,j) + C(i,j)"}) {
    Leaf leaf = leaf_by_rows(statement, "A:ds B:ds C:ds", rows);
    EXPECT_EQ(leaf.kernel().assembly, lower::Assembly::Appended) << statement;
  }
}

TEST(Pieces, KeepTheLiteralSizesOfLevelsThatAreNotCut) {
  Leaf leaf = leaf_by_rows("A(i,j) = B(i,k) * C(k,j)", "B:ds", "reorder(i,k,j); " + rows);
  std::vector<lower::LevelOfTensor> whole{{0, 1}, {2, 1}};  // j of A and of C
  for (const lower::LevelOfTensor& level : whole)
    EXPECT_NE(std::find(leaf.kernel().whole_levels.begin(), leaf.kernel().whole_levels.end(), level),
              leaf.kernel().whole_levels.end());
}

}  // namespace
}  // namespace spdistal
