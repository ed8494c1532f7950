// Leaf routines over pieces and ranks: the products of the literature, and sparse operands, each piece by a routine.
#include <gtest/gtest.h>

#include <spdistal/spdistal.hpp>

#include "compile/substituted.hpp"
#include "mpi/ranks.hpp"
#include "routine/registry.hpp"
#include "support/own_leaves.hpp"
#include "support/placed_program.hpp"
#include "support/refusal.hpp"

namespace spdistal {
namespace {

using runtime::Transport;
using test::PlacedText;

const std::vector<std::string> in_tiles = {"A(x,y) -> M(x,y)", "B(x,y) -> M(x,y)", "C(x,y) -> M(x,y)"};
const std::vector<std::string> in_rows = {"A(x,y) -> M(x)", "B(x,y) -> M(x)", "C(x,y) -> M(x)"};
const std::string tiles = "divide(i,io,ii,M.x); divide(j,jo,ji,M.y); divide(k,ko,ki,M.x); reorder(io,jo,ko,ii,ji,ki); ";

std::vector<std::string> leaves() {
  test::register_own_leaves();
  std::vector<std::string> out = {"own"};
  try {
    routine::routines("gemm")[0]->find({});
    out.emplace_back("gemm");
  } catch (const UserError&) {}  // there is no BLAS
  return out;
}

std::vector<PlacedText> dense_products(const std::string& leaf) {
  std::string by = "; substitute({ii,ji,ki}," + leaf + ")";
  std::vector<PlacedText> out;
  auto add = [&](const std::string& machine, const std::vector<std::string>& places, const std::string& schedule) {
    for (auto [i, j, k] : {std::tuple{8, 8, 8}, {7, 5, 9}, {1, 4, 2}, {3, 1, 1}})
      out.push_back({.statement = "A(i,j) = B(i,k) * C(k,j)",
                     .sizes = {{"i", i}, {"j", j}, {"k", k}},
                     .machine = machine,
                     .distributions = places,
                     .schedule = schedule});
  };
  add("2x2", in_tiles, tiles + "distribute({io,jo}); communicate({A},jo); communicate({B,C},ko)" + by);
  add("3x3", in_tiles,
      tiles + "rotate(ko,{io,jo},kos); distribute({io,jo}); communicate({A},jo); communicate({B,C},kos)" + by);
  add("2x2x2", {"A(x,y) -> M(x,y,0)", "B(x,z) -> M(x,0,z)", "C(z,y) -> M(0,y,z)"},
      "divide(i,io,ii,M.x); divide(j,jo,ji,M.y); divide(k,ko,ki,M.z); reorder(io,jo,ko,ii,ji,ki); "
      "distribute({io,jo,ko}); communicate({A,B,C},ko)" +
          by);
  // No step fetches anything: the routine is called in every turn of a loop of the leaf.
  add("2x2", in_tiles, tiles + "distribute({io,jo})" + by);
  add("3", in_rows, "reorder(i,k,j); divide(i,io,ii,M.x); distribute(io); substitute({ii,k,j}," + leaf + ")");
  return out;
}

TEST(Routines, MultiplyDensePieces) {
  for (const std::string& leaf : leaves())
    runtime::testkit::on_ranks([&](Transport& t) {
      for (const PlacedText& text : dense_products(leaf)) {
        std::string fault = test::find_fault(t, text, 1);
        EXPECT_TRUE(fault.empty()) << fault;
      }
    });
}

// Homes that do not match the schedule, sums over pieces, and results in place.
TEST(Routines, MultiplySparsePieces) {
  test::register_own_leaves();
  const std::map<std::string, int64_t> sizes{{"i", 13}, {"j", 11}, {"k", 4}};
  std::vector<PlacedText> all;
  for (const char* machine : {"1", "2", "4"})
    for (const std::vector<std::string>& places :
         {std::vector<std::string>{}, {"B(x,y) -> M(x)", "a(x) -> M(x)", "c(x) -> M(x)"}, {"B(x,y) -> M(y)"}}) {
      all.push_back({"a(i) = B(i,j) * c(j)", "B:ds", sizes, machine, places,
                     "divide(i,io,ii,M.x); distribute(io); substitute({ii,j},own)"});
      all.push_back({"a(i) = B(i,j) * c(j)", "B:ds", sizes, machine, places,
                     "divide(j,jo,ji,M.x); reorder(jo,i,ji); distribute(jo); substitute({i,ji},own)"});
    }
  all.push_back({"A(i,k) = B(i,j) * C(j,k)",
                 "B:ds",
                 sizes,
                 "3",
                 {"B(x,y) -> M(x)"},
                 "divide(i,io,ii,M.x); distribute(io); substitute({ii,j,k},own)"});
  all.push_back({"A(i,k) = B(i,j) * C(j,k)",
                 "B:ds",
                 sizes,
                 "2x2",
                 {},
                 "divide(i,io,ii,M.x); divide(j,jo,ji,M.y); reorder(io,jo,ii,ji,k); distribute({io,jo}); "
                 "substitute({ii,ji,k},own)"});
  all.push_back({"A(i,j) = B(i,j) * C(i,k) * D(k,j)",
                 "A:ds B:ds",
                 sizes,
                 "3",
                 {"B(x,y) -> M(x)"},
                 "divide(i,io,ii,M.x); distribute(io); substitute({ii,j,k},own)"});
  all.push_back({"A(i,j) = B(i,j) * C(i,k) * D(k,j)",
                 "A:ds B:ds",
                 sizes,
                 "2x2",
                 {"A(x,y) -> M(x,y)"},
                 "divide(i,io,ii,M.x); divide(j,jo,ji,M.y); reorder(io,jo,ii,ji,k); distribute({io,jo}); "
                 "substitute({ii,ji,k},own)"});
  runtime::testkit::on_ranks([&](Transport& t) {
    for (const PlacedText& text : all) {
      std::string fault = test::find_fault(t, text, 2);
      EXPECT_TRUE(fault.empty()) << fault;
    }
  });
}

}  // namespace
}  // namespace spdistal
