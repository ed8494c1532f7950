// Vector loops with loops inside, before and after.
#include <gtest/gtest.h>

#include "ir/build.hpp"
#include "ir/print.hpp"
#include "ir/verify.hpp"
#include "passes/pass.hpp"

namespace spdistal::passes {
namespace {

using namespace ir;

class OuterVectorsTest : public ::testing::Test {
 protected:
  FunctionBuilder f{"f"};
  Var a = f.array("a", 0, ScalarType::Float64, Access::Write), b = f.array("b", 1, ScalarType::Float64);
  Var crd = f.array("crd", 2, ScalarType::Int32), n = f.scalar("n", 0, ScalarType::Int32);
  LoopOptions vector{.kind = LoopKind::Vector};

  void expect(const std::string& after, Target target = {}) {
    Function before = f.build();
    ASSERT_TRUE(verify(before));
    Function result = outer_vectors(before, target);
    auto legal = verify(result);
    EXPECT_TRUE(legal) << (legal ? "" : legal.refusal().str());
    EXPECT_EQ("\n" + print(result.body), after);
  }
};

TEST_F(OuterVectorsTest, RunTheLoopsInsideOnceForAllLanes) {
  f.loop(
      "k", int32(0), int32(8),
      [&](Var k) {
        Var sum = f.variable("sum", zero(Float64));
        f.loop("p", int32(0), n, [&](Var p) {
          Var j = f.constant("j", load(crd, p));
          Var at = f.constant("at", j * 8 + k);
          f.increase(sum, load(b, p) * load(b, at));
        });
        f.store_add(a, k, sum);
      },
      vector);
  expect(R"(
allocate sum: double[8] zeroed
for p: int32 in 0 .. n
  const j: int32 = crd[p]
  for k: int32 in 0 .. 8 vector
    sum[k] += b[p] * b[j * 8 + k]
for k: int32 in 0 .. 8 vector
  a[k] += sum[k]
)");
}

TEST_F(OuterVectorsTest, TakeManyTurnsInStripsAndTheRestOneByOne) {
  f.loop(
      "k", int32(0), n,
      [&](Var k) {
        Var x = f.constant("x", load(b, k));
        f.loop("p", int32(0), int32(3), [&](Var p) { f.store_add(a, k, x * load(b, p)); });
      },
      vector);
  expect(R"(
const k_whole: int32 = n - n % 8
for k_first: int32 in 0 .. k_whole step 8
  allocate x: double[8] uninitialised
  for k: int32 in 0 .. 8 vector
    x[k] = b[k_first + k]
  for p: int32 in 0 .. 3
    for k: int32 in 0 .. 8 vector
      a[k_first + k] += x[k] * b[p]
const k_whole2: int32 = n - (n - k_whole) % 2
for k_first: int32 in k_whole .. k_whole2 step 2
  allocate x: double[2] uninitialised
  for k: int32 in 0 .. 2 vector
    x[k] = b[k_first + k]
  for p: int32 in 0 .. 3
    for k: int32 in 0 .. 2 vector
      a[k_first + k] += x[k] * b[p]
for k: int32 in k_whole2 .. n
  const x: double = b[k]
  for p: int32 in 0 .. 3
    a[k] += x * b[p]
)",
         {.vector_bytes = 16});
}

TEST_F(OuterVectorsTest, WhoseLanesDoNotKeepStepAreSerial) {
  f.loop(
      "k", int32(0), int32(8),
      [&](Var k) { f.loop("p", int32(0), load(crd, k), [&](Var p) { f.store_add(a, k, load(b, p)); }); }, vector);
  f.loop(
      "k", int32(0), int32(8),
      [&](Var k) {
        f.loop("p", int32(0), n, [&](Var p) {
          f.store_add(a, k, load(b, p));
          f.when(load(b, k) < load(b, p), [&] { f.stop(); });
        });
      },
      vector);
  expect(R"(
for k: int32 in 0 .. 8
  for p: int32 in 0 .. crd[k]
    a[k] += b[p]
for k: int32 in 0 .. 8
  for p: int32 in 0 .. n
    a[k] += b[p]
    if b[k] < b[p]
      break
)");
}

}  // namespace
}  // namespace spdistal::passes
