// Everything in a plan runs: where the partition statements of an operator come to nothing, results are wrong or refused.
#include <gtest/gtest.h>

#include "execute/move/select.hpp"
#include "mpi/ranks.hpp"
#include "support/placed_program.hpp"

namespace spdistal {
namespace {

using plan::Op;
using runtime::Transport;
using test::PlacedText;

struct Emptied {
  Op op;
  PlacedText text;  // whose plan has such statements
};

PlacedText product(const char* format, const char* distribution, const char* schedule, const char* machine = "3") {
  return {.statement = "a(i) = B(i,j) * c(j)",
          .formats = format,
          .sizes = {{"i", 11}, {"j", 10}},
          .machine = machine,
          .distributions = {distribution},
          .schedule = schedule};
}

std::vector<Emptied> emptied_cases() {
  const char *rows = "divide(i,io,ii,3); distribute(io)",
             *columns = "divide(j,jo,ji,3); reorder(jo,i,ji); distribute(jo)";
  const char* non_zeros = "fuse(i,j,f); pos(f,fp,B(i,j)); divide(fp,fo,fi,3); distribute(fo)";
  const char* tiles = "divide(i,io,ii,2); divide(j,jo,ji,2); reorder(io,jo,ii,ji); distribute(io); distribute(jo)";
  PlacedText gathered{.statement = "A(i,j) = D(i,k) * B(k,j)",
                      .formats = "A:ds D:ds B:ss",
                      .sizes = {{"i", 11}, {"j", 10}, {"k", 9}},
                      .machine = "3",
                      .schedule = rows};
  return {{Op::ByBounds, product("B:ds", "B(x,y) -> M(y)", rows)},
          {Op::ByBounds, product("B:ds", "B(x,y) -> M(x)", non_zeros)},
          {Op::ByValueRanges, product("B:ss", "B(x,y) -> M(y)", rows)},
          {Op::ByValueSet, gathered},
          {Op::Image, product("B:ds", "B(x,y) -> M(y)", rows)},
          {Op::Preimage, product("B:ds", "B(x,y) -> M(x)", non_zeros)},
          {Op::Preimage, product("B:ss", "B(x,y) -> M(x)", columns)},
          {Op::Expand, product("B:sd", "B(x,y) -> M(y)", rows)},
          {Op::Contract, product("B:sd", "B(x,y) -> M(x)", columns)},
          {Op::Copy, product("B:ds", "B(x,y) -> M(y)", rows)},
          {Op::Intersect, product("B:ds", "B(x,y) -> M(y,x)", tiles, "2x2")}};
}

// The operator that comes to nothing while this lives; ranks are threads here, or have a process each.
class Emptying {
 public:
  explicit Emptying(Transport& transport, Op op) : transport_(transport) {
    transport_.barrier();
    set_emptied(op);
    transport_.barrier();
  }
  ~Emptying() {
    transport_.barrier();
    set_emptied(std::nullopt);
    transport_.barrier();
  }
  Emptying(const Emptying&) = delete;
  Emptying& operator=(const Emptying&) = delete;

 private:
  Transport& transport_;
};

std::string fault_of(Transport& transport, const PlacedText& text) {
  try {
    return test::find_fault(transport, text, 5);
  } catch (const std::exception& error) { return error.what(); }
}

TEST(EmptiedStatements, BreakResultsWhateverTheirOperatorIs) {
  for (const auto& [op, text] : emptied_cases()) {
    runtime::testkit::on_ranks([&](Transport& t) {
      std::string name(plan::name_of(op));
      EXPECT_EQ(fault_of(t, text), "") << name;
      Emptying emptying(t, op);
      EXPECT_NE(fault_of(t, text), "") << name << " may come to nothing in\n  " << text.schedule;
    });
  }
}

}  // namespace
}  // namespace spdistal
