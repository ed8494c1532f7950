// Schedules that are legal and seldom written: positions counted row by row and dealt out, pieces without positions, loops
// without values, blocks larger than any loop. Against the dense evaluator, with data in blocks by rank and along other
// dimensions.
#include <gtest/gtest.h>

#include "mpi/ranks.hpp"
#include "runtime/transport/agree.hpp"
#include "spdistal/error.hpp"
#include "support/placed_program.hpp"

namespace spdistal {
namespace {

using runtime::Transport;
using test::Leaves;
using test::PlacedText;

struct Seldom {
  std::string name;
  std::string statement;  // tensors that formats do not list are dense
  std::string formats;
  std::string schedule;                       // over M.x pieces
  std::vector<std::string> distributions;     // that cut data along other dimensions than the loops
  std::map<std::string, int64_t> sizes = {};  // of variables, where they are not small numbers
};
void PrintTo(const Seldom& seldom, std::ostream* out) { *out << seldom.statement << "  " << seldom.schedule; }

std::vector<Seldom> positions_of_rows() {
  std::string spmv = "a(i) = B(i,j) * c(j)";
  std::vector<std::string> columns{"B(x,y) -> M(y)", "c(x) -> M(0)"}, shares{"B(x,y) fuse(x,y,f) -> M(~f)"};
  std::vector<Seldom> out;
  for (auto [name, format] : {std::pair{"Csr", "B:ds"}, {"Dcsr", "B:ss"}, {"Coo", "B:uq"}, {"SparseRows", "B:sd"}}) {
    auto add = [&](const std::string& what, const std::string& schedule, const std::vector<std::string>& places) {
      out.push_back({what + "Of" + name, spmv, format, "pos(j,p,B(i,j)); " + schedule, places});
    };
    add("EachOnAPieceOfItsOwn", "distribute({i,p})", columns);
    add("InHalvesOfARow", "divide(p,po,pi,2); distribute({i,po})", shares);
    add("EachInAHalfOfARow", "divide(p,po,pi,2); distribute({i,po,pi})", columns);
    add("InBlocksOfARow", "split(p,po,pi,2); distribute({i,po})", shares);
    add("FetchedOneByOne", "distribute(i); communicate({c},p)", columns);
    add("FetchedOneByOneInHalves", "divide(p,po,pi,2); distribute(i); communicate({c},pi)", shares);
    add("RotatedByTheRow", "rotate(p,{i},ps); distribute({i,ps})", columns);
  }
  out.push_back({"FusedWithALoopOutside", "A(i,k) = B(i,j) * C(j,k)", "B:ds",
                 "reorder(i,k,j); pos(j,p,B(i,j)); fuse(k,p,f); distribute({i,f})", columns});
  out.push_back({"FusedWithALoopInside", "A(i,k) = B(i,j) * C(j,k)", "B:ds",
                 "reorder(i,j,k); pos(j,p,B(i,j)); fuse(p,k,f); divide(f,fo,fi,M.x); distribute({i,fo})", columns});
  out.push_back({"OfTubes",
                 "A(i,k) = B(i,j,k)",
                 "B:dss",
                 "reorder(i,j,k); fuse(j,k,f); pos(f,p,B(i,j,k)); distribute({i,p})",
                 {"B(x,y,z) -> M(y)"}});
  out.push_back(
      {"IntoASparseVector", "A(j) = -B(i,j)", "A:s B:us", "reorder(i,j); pos(j,p,B(i,j)); distribute({i,p})", columns});
  out.push_back({"IntoASparseMatrix", "A(i,j) = -B(i,j)", "A:ds B:ds", "pos(j,p,B(i,j)); distribute({i,p})", columns});
  return out;
}

std::vector<Seldom> positions() {
  return {
      {"OfRowsThatOthersFollow",
       "a(i) = B(i,j) * C(i,k)",
       "B:ss C:ds",
       "pos(i,p,B(i,j)); divide(p,po,pi,M.x); distribute(po)",
       {"B(x,y) -> M(y)", "C(x,y) -> M(y)"}},
      {"OfRowsThatOthersFollowBelowPositions",
       "a(i) = B(i,j) * C(i,k)",
       "B:ss C:ds",
       "pos(i,p,B(i,j)); divide(p,po,pi,M.x); distribute(po); pos(k,q,C(i,k))",
       {"B(x,y) -> M(y)", "C(x,y) -> M(y)"}},
      {"OfAllTwoByTwo",
       "A(i,j) = B(i,j)",
       "B:ds",
       "fuse(i,j,f); pos(f,p,B(i,j)); split(p,po,pi,2); reorder(pi,po)",
       {"B(x,y) -> M(y)"}},
      {"OfAllTwoByTwoInPieces",
       "A(i,j) = B(i,j)",
       "B:ds",
       "fuse(i,j,f); pos(f,p,B(i,j)); split(p,po,pi,2); reorder(pi,po); distribute(pi)",
       {"B(x,y) -> M(y)"}},
      {"FusedWithALoop",
       "A(i,j) = b(i) * C(i,j)",
       "b:s",
       "reorder(i,j); pos(i,p,b(i)); fuse(p,j,f)",
       {"C(x,y) -> M(y)"}},
      {"FusedWithALoopInPieces",
       "A(i,j) = b(i) * C(i,j)",
       "b:s",
       "reorder(i,j); pos(i,p,b(i)); fuse(p,j,f); divide(f,fo,fi,M.x); distribute(fo)",
       {"C(x,y) -> M(y)"}},
  };
}

std::vector<Seldom> weights() {
  std::string sum = "A(i,j) = B(i,j) + C(i,j)", spmv = "a(i) = B(i,j) * c(j)";
  std::vector<std::string> rows{"A(x,y) -> M(x)", "B(x,y) -> M(x)", "C(x,y) -> M(x)"},
      columns{"A(x,y) -> M(y)", "B(x,y) -> M(y)", "C(x,y) fuse(x,y,f) -> M(~f)"};
  std::vector<Seldom> out;
  for (auto [name, formats] : {std::pair{"Csr", "A:ds B:ds C:ds"},
                               {"Dcsr", "A:ss B:ss C:ss"},
                               {"Coo", "A:ds B:us C:ds"},
                               {"Mixed", "A:ds B:ds C:ss"},
                               {"Dense", "A:dd B:ds C:sd"},
                               {"Banded", "A:ds B:dr C:db"}}) {
    auto add = [&](const std::string& what, const std::string& schedule, const std::vector<std::string>& places) {
      out.push_back({what + "Of" + name, sum, formats, schedule, places});
    };
    add("Blocks", "divide(i,io,ii,M.x,{B,C}); distribute(io)", rows);
    add("BlocksByOne", "divide(i,io,ii,M.x,C); distribute(io)", columns);
    add("RunsOfBlocks", "divide(i,io,ii,5,{B,C}); divide(io,ioo,ioi,M.x); distribute(ioo)", columns);
    add("PartsOfBlocks", "divide(i,io,ii,3,{B,C}); divide(ii,iio,iii,2); distribute({io,iio})", rows);
    add("BlocksForThreads", "divide(i,io,ii,M.x,B); distribute(io); parallelize(ii,CPUThread)", rows);
    add("BlocksInsideOfPieces",
        "divide(j,jo,ji,M.x); reorder(jo,i,ji); distribute(jo); divide(i,io,ii,3,{B,C}); parallelize(io,CPUThread)",
        rows);
    add("BlocksInAProcess", "divide(i,io,ii,3,{B,C}); parallelize(io,CPUThread)", rows);
  }
  out.push_back({"BlocksThatFetchAVector", spmv, "B:ds", "divide(i,io,ii,M.x,B); distribute(io)", {"c(x) -> M(x)"}});
  out.push_back({"BlocksOneAfterTheOther",
                 spmv,
                 "B:ds",
                 "divide(i,io,ii,3,B); divide(j,jo,ji,M.x); reorder(jo,io,ii,ji); "
                 "distribute(jo); communicate(c,io)",
                 {"c(x) -> M(x)"}});
  out.push_back({"RowsOfBlocksOneAfterTheOther",
                 spmv,
                 "B:ds",
                 "divide(i,io,ii,M.x,B); distribute(io); communicate(c,ii)",
                 {"c(x) -> M(x)"}});
  out.push_back({"BlocksBesideAWindow",
                 "a(i) = B(i,j) + C(i+1,j)",
                 "B:ds C:ds",
                 "divide(i,io,ii,M.x,{B}); distribute(io)",
                 {"B(x,y) -> M(y)"}});
  out.push_back({"BlocksWithoutRows", spmv, "B:ds", "divide(i,io,ii,M.x,B); distribute(io)", {}, {{"i", 0}}});
  out.push_back({"BlocksWithoutColumns", spmv, "B:ds", "divide(i,io,ii,M.x,B); distribute(io)", {}, {{"j", 0}}});
  return out;
}

// Positions of blocks of rows, and of dense levels.
std::vector<Seldom> blocks_of_rows() {
  std::string spmv = "a(i) = B(i,j) * c(j)";
  std::vector<std::string> columns{"B(x,y) -> M(y)", "c(x) -> M(0)"}, shares{"B(x,y) fuse(x,y,f) -> M(~f)"};
  std::vector<Seldom> out;
  for (auto [name, format] : {std::pair{"Csr", "B:ds"}, {"Dcsr", "B:ss"}, {"Coo", "B:uq"}, {"Bitmap", "B:bs"}}) {
    auto add = [&](const std::string& what, const std::string& schedule, const std::vector<std::string>& places) {
      out.push_back({what + "Of" + name, spmv, format, schedule, places});
    };
    std::string walk = "fuse(ii,j,f); pos(f,p,B(i,j)); ", blocks = "divide(i,io,ii,M.x); " + walk;
    add("Each", blocks + "distribute(io)", columns);
    add("EachInHalves", blocks + "divide(p,po,pi,2); distribute({io,po})", columns);
    add("EachInHalvesOfShares", blocks + "divide(p,po,pi,2); distribute({io,po})", shares);
    add("EachInParts", blocks + "split(p,po,pi,2); distribute({io,po})", columns);
    add("HalvesInSteps", blocks + "divide(p,po,pi,2); distribute(io); communicate({c,B},po)", columns);
    add("ByWeight", "divide(i,io,ii,M.x,B); " + walk + "divide(p,po,pi,2); distribute({io,po})", columns);
    add("InThreads", "divide(i,io,ii,3); " + walk + "split(p,po,pi,2); parallelize(io,CPUThread)", columns);
    add("Twice", "divide(i,ia,ib,M.x); divide(ib,io,ii,2); " + walk + "distribute(ia)", shares);
    add("TwiceInPieces", "divide(i,ia,ib,M.x); divide(ib,io,ii,2); " + walk + "distribute({ia,io})", columns);
  }
  out.push_back(
      {"OfTubes",
       "A(i,k) = B(i,j,k)",
       "B:dss",
       "reorder(i,j,k); divide(i,io,ii,M.x); fuse(ii,j,f); pos(f,p,B(i,j,k)); divide(p,po,pi,2); distribute({io,po})",
       {"B(x,y,z) -> M(y)"}});
  out.push_back({"IntoTheSamePattern", "A(i,j) = B(i,j)", "A:ds B:ds",
                 "divide(i,io,ii,M.x); fuse(ii,j,f); pos(f,p,B(i,j)); divide(p,po,pi,2); distribute({io,po})",
                 columns});
  for (auto [name, format] : {std::pair{"DenseAbove", "B:dds"}, {"DenseBelow", "B:dsd"}, {"DenseBetween", "B:sds"}}) {
    out.push_back({name,
                   "A(i,k) = B(i,j,k)",
                   format,
                   "reorder(i,j,k); fuse(i,j,f); pos(f,p,B(i,j,k)); divide(p,po,pi,M.x); distribute(po)",
                   {"B(x,y,z) -> M(z)"}});
    out.push_back({std::string(name) + "All",
                   "A(i,k) = B(i,j,k)",
                   format,
                   "reorder(i,j,k); fuse(i,j,f); fuse(f,k,g); pos(g,p,B(i,j,k)); divide(p,po,pi,M.x); distribute(po)",
                   {"B(x,y,z) -> M(~y)"}});
  }
  return out;
}

std::vector<Seldom> loops() {
  std::string spmv = "a(i) = B(i,j) * c(j)";
  std::vector<std::string> columns{"B(x,y) -> M(y)", "c(x) -> M(0)"};
  std::string huge = "9223372036854775807";
  return {
      {"RotatedWithoutValues",
       "a(i) = B(i,j) * c(j) + d(i)",
       "B:ds",
       "divide(i,io,ii,M.x); rotate(j,{io},js); distribute(io)",
       columns,
       {{"j", 0}}},
      {"RotatedAndDistributedWithoutValues",
       spmv,
       "B:dd",
       "reorder(j,i); divide(i,io,ii,M.x); reorder(io,j,ii); rotate(j,{io},js); distribute({io,js})",
       columns,
       {{"j", 0}}},
      {"RotatedOverAnEmptyWindow",
       "a(i) = B(i,j(2,2)) + d(i)",
       "B:ds",
       "divide(i,io,ii,M.x); rotate(j,{io},js); distribute(io)",
       {"B(x,y) -> M(y)"}},
      {"OfOneHugeBlock", spmv, "B:ds", "split(i,io,ii," + huge + ")", columns},
      {"OfOneHugeBlockInPieces", spmv, "B:ds", "split(i,io,ii," + huge + "); distribute(io)", columns},
      {"OfOneHugeBlockByThreads", spmv, "B:ds", "split(i,io,ii," + huge + "); parallelize(io,CPUThread)", columns},
      {"OfHugeBlocksOfBlocks", spmv, "B:ds", "split(i,io,ii," + huge + "); split(io,ioo,ioi," + huge + ")", columns},
      {"OfOneHugeBlockOfASum", spmv, "B:ds", "split(j,jo,ji," + huge + "); distribute(i); communicate({c},jo)",
       columns},
  };
}

class SeldomWritten : public ::testing::TestWithParam<Seldom> {
 protected:
  static PlacedText text(int pieces) {
    const Seldom& s = GetParam();
    PlacedText out{.statement = s.statement, .formats = s.formats, .sizes = {{"i", 6}, {"j", 5}, {"k", 4}}};
    for (const auto& [var, size] : s.sizes) out.sizes[var] = size;
    out.machine = std::to_string(pieces);
    out.schedule = s.schedule;
    return out;
  }
  static void check(const std::vector<std::string>& distributions, Leaves leaves, std::initializer_list<int> machines) {
    runtime::testkit::on_ranks([&](Transport& t) {
      for (int pieces : machines) {
        PlacedText program = text(pieces);
        program.distributions = distributions;
        std::string fault = test::find_fault(t, program, uint64_t(pieces), leaves);
        if (!fault.empty()) ADD_FAILURE() << fault;
        if (t.allreduce(int32_t(!fault.empty()), runtime::ReduceOp::Max)) return;
      }
    });
  }
};

TEST_P(SeldomWritten, IsRightWhereNobodySaidWhereDataLives) { check({}, Leaves::Interpreted, {1, 2, 4}); }
TEST_P(SeldomWritten, IsRightWhereDataIsCutAlongOtherDimensions) {
  check(GetParam().distributions, Leaves::Interpreted, {1, 3, 7});
}
TEST_P(SeldomWritten, IsRightWhenCompiled) { check(GetParam().distributions, Leaves::Compiled, {4}); }

constexpr auto name_of = [](const auto& seldom) { return seldom.param.name; };
INSTANTIATE_TEST_SUITE_P(PositionsOfRows, SeldomWritten, ::testing::ValuesIn(positions_of_rows()), name_of);
INSTANTIATE_TEST_SUITE_P(Positions, SeldomWritten, ::testing::ValuesIn(positions()), name_of);
INSTANTIATE_TEST_SUITE_P(Weights, SeldomWritten, ::testing::ValuesIn(weights()), name_of);
INSTANTIATE_TEST_SUITE_P(BlocksOfRows, SeldomWritten, ::testing::ValuesIn(blocks_of_rows()), name_of);
INSTANTIATE_TEST_SUITE_P(Loops, SeldomWritten, ::testing::ValuesIn(loops()), name_of);

}  // namespace
}  // namespace spdistal
