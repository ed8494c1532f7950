// Everything in a plan runs: where the partition statements of an operator come to nothing, or an action is not there, results are
// wrong or refused.
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
  const char* thirds =
      "divide(i,io,ii,2); divide(j,jo,ji,2); divide(k,ko,ki,2); reorder(io,jo,ko,ii,ji,ki); distribute({io,jo,ko})";
  PlacedText dense{.statement = "A(i,j) = B(i,k) * C(k,j)",
                   .sizes = {{"i", 6}, {"j", 5}, {"k", 7}},
                   .machine = "2x2",
                   .distributions = {"B(x,y) -> M(y,x)", "C(x,y) -> M(y,x)"},
                   .schedule = tiles};
  PlacedText cubes = dense;
  cubes.machine = "2x2x2";
  cubes.distributions = {"B(x,y) -> M(y,x,0)", "C(x,y) -> M(y,x,0)"};
  cubes.schedule = thirds;
  PlacedText result{.statement = "a(i) = s", .sizes = {{"i", 11}}, .machine = "3", .schedule = rows, .reversed = {"a"}};
  return {{Op::Entry, product("B:ds", "B(x,y) -> M(y)", rows)},
          {Op::Entry, dense},
          {Op::Entry, result},
          {Op::ByBounds, dense},
          {Op::Expand, dense},
          {Op::Intersect, cubes},
          {Op::ByBounds, result},
          {Op::ByBounds, product("B:ds", "B(x,y) -> M(y)", rows)},
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

std::string fault_of(Transport& transport, const PlacedText& text, const test::ChangePlan& change = {}) {
  try {
    return test::find_fault(transport, text, 5, test::Leaves::Interpreted, change);
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

// ---- actions ----

std::vector<plan::Action> without(const std::vector<plan::Action>& actions,
                                  const std::function<bool(const plan::Action&)>& left_out) {
  std::vector<plan::Action> out;
  for (const plan::Action& action : actions) {
    if (left_out(action)) continue;
    if (auto* steps = action.as<plan::ForSteps>())
      out.emplace_back(plan::ForSteps{steps->loop, without(steps->actions, left_out)});
    else out.push_back(action);
  }
  return out;
}

TEST(EmptiedActions, BreakResultsWhateverTheyDo) {
  PlacedText vector = product("B:ds", "B(x,y) -> M(y)", "divide(i,io,ii,3); distribute(io)");
  vector.distributions.insert(vector.distributions.end(), {"a(x) -> M(x)", "c(x) -> M(x)"});
  vector.reversed = {"a", "c"};
  PlacedText sum = vector;
  sum.statement = "A(i,j) = B(i,j) + C(i,j)";
  sum.formats = "A:ds B:ds C:ds";
  sum.distributions = {"A(x,y) -> M(x)", "B(x,y) -> M(y)", "C(x,y) -> M(y)"};
  sum.reversed = {"A"};
  PlacedText summa{.statement = "A(i,j) = B(i,k) * C(k,j)",
                   .sizes = {{"i", 6}, {"j", 5}, {"k", 7}},
                   .machine = "2x2",
                   .distributions = {"B(x,y) -> M(y,x)", "C(x,y) -> M(y,x)"},
                   .schedule =
                       "divide(i,io,ii,2); divide(j,jo,ji,2); divide(k,ko,ki,2); reorder(io,jo,ko,ii,ji,ki); "
                       "distribute({io,jo}); communicate({A},jo); communicate({B,C},ko)"};
  for (const PlacedText& text : {vector, sum, summa}) {
    runtime::testkit::on_ranks([&](Transport& t) {
      EXPECT_EQ(fault_of(t, text), "");
      auto fault_without = [&](const std::function<bool(const plan::Action&)>& left_out) {
        return fault_of(t, text, [&](plan::Plan plan) {
          plan.actions = without(plan.actions, left_out);
          return plan;
        });
      };
      for (size_t operand : {1, 2})
        EXPECT_NE(fault_without([&](const plan::Action& action) {
                    auto* fetch = action.as<plan::FetchPieces>();
                    return fetch && fetch->access == operand;
                  }),
                  "")
            << text.statement << " without fetching operand " << operand;
      EXPECT_NE(fault_without([](const plan::Action& action) { return action.is<plan::LaunchLeaf>(); }), "");
      EXPECT_NE(fault_without([](const plan::Action& action) { return action.is<plan::TakeHome>(); }), "");
    });
  }
}

}  // namespace
}  // namespace spdistal
