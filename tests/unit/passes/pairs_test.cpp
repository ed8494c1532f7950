// Sums of two turns at a time: which loops are taken, what becomes of them, and that all turns are still there.
#include <gtest/gtest.h>

#include "ir/build.hpp"
#include "ir/interpret.hpp"
#include "ir/print.hpp"
#include "ir/verify.hpp"
#include "passes/pipeline.hpp"
#include "unit/ir/kernels.hpp"

namespace spdistal::testing {
namespace {

using passes::pairs;

class PairsTest : public ::testing::Test {
 protected:
  FunctionBuilder f{"f"};
  Var a = f.array("a", 0, ScalarType::Float64, Access::Write), b = f.array("b", 1, ScalarType::Float64);
  Var lo = f.scalar("lo", 0, ScalarType::Int32), hi = f.scalar("hi", 1, ScalarType::Int32);
  LoopOptions twice{.unroll = 2};

  void sum(const LoopOptions& options, const std::function<void(Var sum, Var p)>& turn) {
    Var sum = f.variable("sum", 0.5);
    f.loop(
        "p", lo, hi, [&](Var p) { turn(sum, p); }, options);
    f.store(a, 0, sum);
  }
  Function changed() const {
    Function out = pairs(f.build(), {});
    auto legal = verify(out);
    EXPECT_TRUE(legal) << (legal ? "" : legal.refusal().str()) << print(out);
    return out;
  }
  bool is_left_alone() const { return changed().body == f.build().body; }
};

TEST_F(PairsTest, TakeTwoTurnsAtATimeWithASumForEach) {
  sum(twice, [&](Var sum, Var p) {
    Var q = f.constant("q", Expr(p) + 1);
    f.increase(sum, load(b, q));
  });
  EXPECT_EQ("\n" + print(changed().body), R"(
var sum: double = 0.5
block
  const p_begin: int32 = lo
  const p_last: int32 = hi - 1
  var sum2: double = 0.0
  for p: int32 in p_begin .. p_last step 2
    block
      const q: int32 = p + 1
      sum = sum + b[q]
    block
      const q: int32 = p + 1 + 1
      sum2 = sum2 + b[q]
  if (p_last - p_begin + 1) % 2 == 1
    const q: int32 = p_last + 1
    sum = sum + b[q]
  sum = sum + sum2
a[0] = sum
)");
}

TEST_F(PairsTest, AddUpAllTurnsOfLoopsOfAnyLength) {
  sum(twice, [&](Var sum, Var p) { f.when(differ(p, 3), [&] { f.increase(sum, load(b, p)); }); });
  EXPECT_FALSE(is_left_alone());
  for (int32_t begin = 0; begin < 3; begin++)
    for (int32_t end = begin - (begin > 0); end < 8; end++) {
      std::vector<double> values{1, 2, 4, 8, 16, 32, 64, 128}, out{0};
      CallData call;
      call.array(CallData::view(out)), call.array(CallData::view(values));
      call.scalar(begin), call.scalar(end);
      interpret(changed(), call.get());
      double wanted = 0.5;
      for (int32_t p = begin; p < end; p++) wanted += p == 3 ? 0 : values[size_t(p)];
      EXPECT_EQ(out[0], wanted) << begin << " to " << end;
    }
}

TEST_F(PairsTest, LeaveLoopsAloneThatMayNotKeepSumsApart) {
  sum({}, [&](Var sum, Var p) { f.increase(sum, load(b, p)); });
  EXPECT_TRUE(is_left_alone());
}

TEST_F(PairsTest, LeaveLoopsAloneThatReadTheirSum) {
  sum(twice, [&](Var sum, Var p) { f.increase(sum, load(b, p) * sum); });
  EXPECT_TRUE(is_left_alone());
}

TEST_F(PairsTest, LeaveLoopsAloneThatDoMore) {
  sum(twice, [&](Var sum, Var p) {
    f.increase(sum, load(b, p));
    f.store(a, 1, 2.0);
  });
  EXPECT_TRUE(is_left_alone());
}

}  // namespace
}  // namespace spdistal::testing
