// Each pass, before and after, as text.
#include <gtest/gtest.h>

#include "ir/build.hpp"
#include "ir/print.hpp"
#include "ir/verify.hpp"
#include "passes/pipeline.hpp"
#include "unit/ir/level_arrays.hpp"

namespace spdistal::passes {
namespace {

using namespace ir;
using testing::pos_array;

class GoldenTest : public ::testing::Test {
 protected:
  FunctionBuilder f{"f"};
  Var a = f.array("a", 0, ScalarType::Float64, Access::Write), b = f.array("b", 1, ScalarType::Float64);
  Var crd = f.array("crd", 2, ScalarType::Int32), n = f.scalar("n", 0, ScalarType::Int32);
  LoopOptions vector{.kind = LoopKind::Vector};

  using Pass = Function (*)(const Function&, const Target&);
  void expect(Pass pass, const std::string& after, Target target = {}) {
    Function before = f.build();
    ASSERT_TRUE(verify(before));
    Function result = pass(before, target);
    auto legal = verify(result);
    EXPECT_TRUE(legal) << (legal ? "" : legal.refusal().str());
    EXPECT_EQ("\n" + print(result.body), after);
  }
};

TEST_F(GoldenTest, SimplifyDecidesWhatCanBeDecided) {
  f.loop("i", int32(0), int32(1), [&](Var i) {
    f.add(If{
        Binary{BinaryOp::Lt, int32(2), int32(3)}, store(a, Expr(Binary{BinaryOp::Add, i, int32(0)}), load(b, i)), {}});
  });
  f.loop("i", int32(4), int32(4), [&](Var i) { f.store(a, i, 0); });
  f.add(While{literal(ir::Scalar::of(false)), store(a, 0, 0)});
  f.add(Block{{store(a, 1, 1), Block{{store(a, 2, 2)}}}});
  f.add(Block{{Declare{var("x", Int32), n, Mutability::Const}, store(a, 3, 3)}});
  expect(simplify, R"(
a[0] = b[0]
a[1] = 1.0
a[2] = 2.0
const x: int32 = n
a[3] = 3.0
)");
}

TEST_F(GoldenTest, SimplifyKeepsScopesOfVariablesThatAreDeclaredBesideThem) {
  Var x = var("x", Int32);
  f.add(Block{{Declare{x, n, Mutability::Const}, store(a, 0, load(b, x))}});
  f.add(Block{{Declare{x, int32(2), Mutability::Const}, store(a, 1, load(b, x))}});
  Function before = f.build(), after = simplify(before, {});
  ASSERT_TRUE(verify(before));
  EXPECT_TRUE(verify(after));
  EXPECT_EQ(after.body, before.body);
}

TEST_F(GoldenTest, SimplifyKeepsFloatsAsTheyAre) {
  Expr x = load(b, 0);
  f.add(store(a, 0, Expr(Binary{BinaryOp::Mul, x, zero(Float64)})));
  f.add(store(a, 0, Expr(Binary{BinaryOp::Add, x, zero(Float64)})));
  f.add(store(a, 0, Expr(Binary{BinaryOp::Mul, x, one(Float64)})));
  expect(simplify, R"(
a[0] = b[0] * 0.0
a[0] = b[0] + 0.0
a[0] = b[0]
)");
}

TEST_F(GoldenTest, AccumulateAddsToAVariable) {
  f.loop("p", int32(0), n, [&](Var p) { f.store_add(a, n, load(b, p)); });
  expect(accumulate, R"(
if 0 < n
  var sum: double = a[n]
  for p: int32 in 0 .. n
    sum = sum + b[p]
  a[n] = sum
)");
}

TEST_F(GoldenTest, AccumulateAddsToARowOfItsOwn) {
  f.loop("p", int32(0), int32(9), [&](Var p) {
    f.loop(
        "k", int32(0), int32(8), [&](Var k) { f.store_add(a, n * 8 + k, load(b, p)); }, vector);
  });
  expect(accumulate, R"(
allocate sums: double[8] uninitialised
for k: int32 in 0 .. 8 vector
  sums[k] = a[n * 8 + k]
for p: int32 in 0 .. 9
  for k: int32 in 0 .. 8 vector
    sums[k] += b[p]
for k: int32 in 0 .. 8 vector
  a[n * 8 + k] = sums[k]
)");
}

TEST_F(GoldenTest, AccumulateAddsTheSumOfAtomicAdditionsAtomically) {
  f.parallel("t", 2, [&](Var) {
    f.loop("p", int32(0), n, [&](Var p) { f.atomic_add(a, n, load(b, p)); });
    f.loop("p", int32(0), n,
           [&](Var p) { f.loop("k", int32(0), int32(8), [&](Var k) { f.atomic_add(a, n * 8 + k, load(b, p)); }); });
  });
  expect(accumulate, R"(
parallel t: int64 in 0 .. 2
  if 0 < n
    var sum: double = 0.0
    for p: int32 in 0 .. n
      sum = sum + b[p]
    a[n] atomic+= sum
  if 0 < n
    allocate sums: double[8] zeroed
    for p: int32 in 0 .. n
      for k: int32 in 0 .. 8 vector
        sums[k] += b[p]
    allocate row: double[8] uninitialised
    for k: int32 in 0 .. 8 vector
      row[k] = sums[k]
    for k: int32 in 0 .. 8
      a[n * 8 + k] atomic+= row[k]
)");
}

TEST_F(GoldenTest, AccumulateLeavesWhatIsConditionalOrReadInTheLoop) {
  f.loop("p", int32(0), n, [&](Var p) { f.when(p < 3, [&] { f.store_add(a, 0, 1); }); });
  f.loop("p", int32(0), n, [&](Var p) { f.store_add(a, 0, load(a, p)); });
  f.loop("p", int32(0), n, [&](Var p) { f.store_add(a, load(crd, p), 1); });
  expect(accumulate, "\n" + print(f.build().body));
}

TEST_F(GoldenTest, BlockRowsSumsTheRowsOfABlockTogether) {
  auto at = [&](Var i, Var j) { return (n * 2 + i) * 8 + j; };
  f.loop("i", int32(0), int32(2),
         [&](Var i) { f.loop("j", int32(0), int32(8), [&](Var j) { f.store(a, at(i, j), 0); }); });
  f.loop("p", int32(0), n, [&](Var p) {
    f.loop("i", int32(0), int32(2), [&](Var i) {
      Var row = f.constant("row", p * 2 + i);
      f.loop("k", int32(0), int32(3), [&](Var k) {
        f.loop(
            "j", int32(0), int32(8),
            [&](Var j) { f.store_add(a, at(i, j), load(b, Expr(row) * 3 + k) * load(b, k * 8 + j)); }, vector);
      });
    });
  });
  expect(block_rows, R"(
block
  allocate sums: double[16] zeroed
  for p: int32 in 0 .. n
    for k: int32 in 0 .. 3
      for i: int32 in 0 .. 2 unroll
        const row: int32 = p * 2 + i
        for j: int32 in 0 .. 8 vector
          sums[i * 8 + j] += b[row * 3 + k] * b[k * 8 + j]
  for i: int32 in 0 .. 2 unroll
    for j: int32 in 0 .. 8 vector
      a[(n * 2 + i) * 8 + j] = sums[i * 8 + j]
)");
}

TEST_F(GoldenTest, BlockRowsLeavesLoopsThatDependOnTheRowAndBlocksThatAreTooLarge) {
  auto block = [&](int32_t rows, const std::function<Expr(Var)>& turns) {
    f.loop("i", int32(0), int32(rows),
           [&](Var i) { f.loop("j", int32(0), int32(8), [&](Var j) { f.store(a, i * 8 + j, 0); }); });
    f.loop("p", int32(0), n, [&](Var p) {
      f.loop("i", int32(0), int32(rows), [&](Var i) {
        f.loop("k", int32(0), turns(i), [&](Var) {
          f.loop(
              "j", int32(0), int32(8), [&](Var j) { f.store_add(a, i * 8 + j, load(b, p)); }, vector);
        });
      });
    });
  };
  block(2, [&](Var i) { return load(crd, i); });
  block(64, [&](Var) { return int32(3); });
  expect(block_rows, "\n" + print(f.build().body));
}

TEST_F(GoldenTest, HoistMovesLoadsOutOfLoopsThatSurelyRun) {
  f.loop("p", int32(0), n, [&](Var p) {
    f.loop("k", int32(0), int32(32), [&](Var k) { f.store_add(a, k, load(b, p) * load(b, load(crd, p) * 32 + k)); });
    f.loop("k", int32(0), n, [&](Var k) { f.store_add(a, k, load(b, p)); });
  });
  expect(hoist, R"(
for p: int32 in 0 .. n
  block
    const b_p: double = b[p]
    const offset: int32 = crd[p] * 32
    for k: int32 in 0 .. 32
      a[k] += b_p * b[offset + k]
  for k: int32 in 0 .. n
    a[k] += b[p]
)");
}

TEST_F(GoldenTest, HoistMovesProductsAndLeavesWhatTheLoopChanges) {
  f.loop("i", int32(0), int32(4), [&](Var i) {
    f.store(a, n * 4 + i, load(a, n));
    f.when(i < 2, [&] { f.store(a, i, load(b, n)); });
  });
  expect(hoist, R"(
const offset: int32 = n * 4
for i: int32 in 0 .. 4
  a[offset + i] = a[n]
  if i < 2
    a[i] = b[n]
)");
}

TEST_F(GoldenTest, UnrollMakesCopies) {
  f.loop("k", int32(0), int32(3),
         [&](Var k) {
           Var x = f.constant("x", load(b, k));
           f.store(a, k, x);
         },
         {.unroll = 0});
  f.loop("k", int32(0), int32(5), [&](Var k) { f.store(a, k + 1, 0); }, {.unroll = 0, .step = int32(2)});
  f.loop("k", int32(0), int32(3), [&](Var k) { f.store(a, k, 0); }, {.unroll = 2});
  Function before = f.build();
  Function after = simplify(unroll(before, {}), {});
  EXPECT_EQ("\n" + print(after.body), R"(
const x: double = b[0]
a[0] = x
const x2: double = b[1]
a[1] = x2
const x3: double = b[2]
a[2] = x3
a[1] = 0.0
a[3] = 0.0
a[5] = 0.0
for k: int32 in 0 .. 3 unroll 2
  a[k] = 0.0
)");
}

TEST_F(GoldenTest, VectorizeKeepsSmallArraysInRegisters) {
  Var sums = f.allocate("sums", ScalarType::Float64, 8, Fill::Zeroed);
  f.loop("p", int32(0), n, [&](Var p) {
    f.loop(
        "k", int32(0), int32(8), [&](Var k) { f.store_add(sums, k, load(b, p) * load(b, p * 8 + k)); }, vector);
  });
  f.loop(
      "k", int32(0), int32(8), [&](Var k) { f.store(a, k, load(sums, k)); }, vector);
  expect([](const Function& g, const Target& t) { return simplify(vectorize(g, t), t); }, R"(
var sums0: double x 4 = broadcast(0.0, 4)
var sums1: double x 4 = broadcast(0.0, 4)
for p: int32 in 0 .. n
  sums0 = sums0 + broadcast(b[p], 4) * b[p * 8 x 4]
  sums1 = sums1 + broadcast(b[p], 4) * b[p * 8 + 4 x 4]
a[0] = sums0
a[4] = sums1
)",
         {.vector_bytes = 32});
}

TEST_F(GoldenTest, VectorizeKeepsTheRowsOfABlockInRegisters) {
  Var sums = f.allocate("sums", ScalarType::Float64, 8, Fill::Zeroed);
  f.loop("p", int32(0), n, [&](Var p) {
    for (int row : {0, 1})
      f.loop(
          "k", int32(0), int32(4), [&](Var k) { f.store_add(sums, int32(4 * row) + k, load(b, p) * load(b, k)); },
          vector);
  });
  for (int row : {0, 1})
    f.loop(
        "k", int32(0), int32(4), [&](Var k) { f.store(a, int32(4 * row) + k, load(sums, int32(4 * row) + k)); },
        vector);
  expect([](const Function& g, const Target& t) { return simplify(vectorize(g, t), t); }, R"(
var sums0: double x 4 = broadcast(0.0, 4)
var sums1: double x 4 = broadcast(0.0, 4)
for p: int32 in 0 .. n
  sums0 = sums0 + broadcast(b[p], 4) * b[0 x 4]
  sums1 = sums1 + broadcast(b[p], 4) * b[0 x 4]
a[0] = sums0
a[4] = sums1
)");
}

TEST_F(GoldenTest, VectorizeLeavesArraysThatAreUsedOtherwise) {
  Var sums = f.allocate("sums", ScalarType::Float64, 8, Fill::Zeroed);
  f.loop(
      "k", int32(0), int32(8), [&](Var k) { f.store_add(sums, k, load(b, k)); }, vector);
  f.store(a, 0, load(sums, 3));
  expect(vectorize, "\n" + print(f.build().body));
}

TEST_F(GoldenTest, VectorizeLeavesLoopsThatJumpAboutInMemory) {
  Var sums = f.allocate("sums", ScalarType::Float64, 8, Fill::Zeroed);
  f.loop(
      "k", int32(0), int32(8), [&](Var k) { f.store_add(sums, k, load(b, k * 3)); }, vector);
  f.loop(
      "k", int32(0), int32(8), [&](Var k) { f.store(a, k, load(sums, k)); }, vector);
  expect(vectorize, "\n" + print(f.build().body));
}

TEST_F(GoldenTest, PropagateWritesCopiesAndShortConstantsWhereTheyAreUsed) {
  Var copy = f.constant("copy", n);
  Var thirty = f.constant("thirty", int32(30));
  Var j = f.constant("j", load(crd, copy));
  f.store(a, j, thirty);
  Var kept = f.constant("kept", load(b, 0));
  f.loop("k", int32(0), n, [&](Var k) { f.store(a, k, kept); });
  Var old = f.constant("old", load(a, 0));
  f.store(a, 0, 1);
  f.store(a, 1, old);
  expect(propagate, R"(
a[crd[n]] = double(30)
const kept: double = b[0]
for k: int32 in 0 .. n
  a[k] = kept
const old: double = a[0]
a[0] = 1.0
a[1] = old
)");
}

TEST_F(GoldenTest, PropagateLeavesWhatAWarpComputesTogetherAndLoadsBeforeBarriers) {
  f.loop("block", int32(0), n,
         [&](Var) {
           f.loop("t", int32(0), int32(32),
                  [&](Var t) {
                    Var sum = f.constant("sum", Expr(WarpReduce{BinaryOp::Add, load(b, t)}));
                    f.when(t < 1, [&] { f.store(a, 0, sum); });
                    Var old = f.constant("old", load(a, t));
                    f.add(Barrier{});
                    f.store(a, t + 1, old);
                  },
                  {.kind = LoopKind::GPUThread});
         },
         {.kind = LoopKind::GPUBlock});
  expect(propagate, "\n" + print(f.build().body));
}

TEST_F(GoldenTest, RemoveUnusedTakesWhatNobodyLooksAt) {
  f.constant("x", load(crd, n));
  Var y = f.variable("y", int32(0));
  f.loop("k", int32(0), n, [&](Var) { f.increase(y, 1); });
  Var w = f.allocate("w", ScalarType::Float64, n, Fill::Zeroed);
  f.store(w, 0, 1);
  f.when(n < 3, [&] { f.assign(y, 2); });
  f.loop_while(load(crd, y) < Expr(n), [&] { f.increase(y, 1); });
  f.store(a, 0, load(b, 0));
  expect(remove_unused, "\na[0] = b[0]\n");
  EXPECT_EQ(remove_unused(f.build(), {}).params.size(), 2u);
}

TEST_F(GoldenTest, NarrowCountsWith32BitsBetweenBoundsOf32Bits) {
  auto wide = [](const Expr& e) { return cast(ScalarType::Int64, e); };
  f.loop("p", wide(load(crd, n)), wide(load(crd, n + 1)), [&](Var p) {
    f.loop("q", wide(load(crd, p)), wide(load(crd, Expr(p) + 1)),
           [&](Var q) { f.store(a, Expr(p) * 8 + q, load(b, q)); });
  });
  f.loop("r", int64(0), wide(n), [&](Var r) { f.store(a, r, load(b, r)); });
  expect(narrow, R"(
for p: int32 in crd[n] .. crd[n + 1]
  for q: int32 in crd[int64(p)] .. crd[int64(p + 1)]
    a[int64(p) * 8 + int64(q)] = b[int64(q)]
for r: int64 in 0 .. int64(n)
  a[r] = b[r]
)");
}

TEST_F(GoldenTest, StreamWritesWholeRowsPastTheCaches) {
  Var rows = f.vals("rows", 0, ScalarType::Float64, Access::Write);
  Expr one = broadcast(load(b, 0), 8);
  f.loop("i", int32(0), n, [&](Var i) {
    Var offset = f.constant("offset", Expr(i) * 16);
    f.store(rows, offset, one);
    f.store(rows, Expr(offset) + 8, one);
  });
  f.loop("i", int32(0), n, [&](Var i) {
    Expr two = f.constant("two", one + one);
    f.store(rows, Expr(i) * 8, two);
  });
  // Half of a row, rows that are not whole lines, and elements one by one stay.
  f.loop("i", int32(0), n, [&](Var i) { f.store(rows, Expr(i) * 16 + 8, one); });
  f.loop("i", int32(0), n, [&](Var i) { f.store(rows, Expr(i) * 12, broadcast(load(b, 0), 4)); });
  f.loop("i", int32(0), n, [&](Var i) { f.store(rows, i, load(b, i)); });
  expect(stream, R"(
for i: int32 in 0 .. n
  const offset: int32 = i * 16
  rows[offset] stream= broadcast(b[0], 8)
  rows[offset + 8] stream= broadcast(b[0], 8)
for i: int32 in 0 .. n
  const two: double x 8 = broadcast(b[0], 8) + broadcast(b[0], 8)
  rows[i * 8] stream= two
for i: int32 in 0 .. n
  rows[i * 16 + 8] = broadcast(b[0], 8)
for i: int32 in 0 .. n
  rows[i * 12] = broadcast(b[0], 4)
for i: int32 in 0 .. n
  rows[i] = b[i]
)");
}

TEST_F(GoldenTest, StreamLeavesWhatIsReadOrAddedTo) {
  Var read = f.vals("read", 0, ScalarType::Float64, Access::Write);
  Var sums = f.vals("sums", 1, ScalarType::Float64, Access::Write);
  Expr one = broadcast(load(b, 0), 8);
  f.loop("i", int32(0), n, [&](Var i) {
    f.store(read, Expr(i) * 8, one);
    f.store(sums, Expr(i) * 8, one);
  });
  f.store(a, 0, load(read, 0));
  f.store_add(sums, 0, 1);
  Function before = f.build();
  EXPECT_EQ(print(stream(before, {}).body), print(before.body));
}

TEST_F(GoldenTest, TheRunnerTellsWhatChangedAndStopsWhereAsked) {
  f.loop("p", int32(0), n, [&](Var p) { f.store_add(a, n, load(b, p)); });
  std::vector<std::string> changed, run;
  auto listen = [&](const PassStep& step) {
    run.emplace_back(step.pass);
    if (step.changed) changed.emplace_back(step.pass);
    EXPECT_GE(step.seconds, 0);
  };
  optimize(f.build(), {.stop_after = "accumulate", .listen = listen, .check = Check::AfterEach});
  EXPECT_EQ(run, (std::vector<std::string>{"simplify", "block rows", "accumulate"}));
  EXPECT_EQ(changed, (std::vector<std::string>{"accumulate"}));
  EXPECT_THROW(optimize(f.build(), {.stop_after = "no such pass"}), InternalError);
}

TEST_F(GoldenTest, FlattenWalksSegmentsThatFollowEachOtherInOneLoop) {
  Var pos = pos_array(f, "pos", 1, 1, ScalarType::Int32),
      counts = f.array("counts", 3, ScalarType::Int32, Access::Write);
  auto rows = [&](const std::function<void(const Var& i, const Var& p)>& fill) {
    f.loop("i", int32(1), n,
           [&](const Var& i) { f.loop("p", load(pos, i), load(pos, Expr(i) + 1), [&](const Var& p) { fill(i, p); }); });
  };
  rows([&](const Var&, const Var& p) { f.store_add(counts, load(crd, p), 1); });
  // Who asks for the segment, leaves it early, or reads bounds that may lie anywhere, stays as it is.
  rows([&](const Var& i, const Var& p) { f.store_add(a, i, load(b, p)); });
  rows([&](const Var&, const Var& p) { f.when(equal(load(crd, p), 7), [&] { f.stop(); }); });
  f.loop("i", int32(0), n, [&](const Var& i) {
    f.loop("p", load(crd, i), load(crd, Expr(i) + 1), [&](const Var& p) { f.store(a, p, 0); });
  });
  expect(flatten, R"(
if 1 < n
  for p: int32 in pos[1] .. pos[n]
    counts[crd[p]] += 1
for i: int32 in 1 .. n
  for p: int32 in pos[i] .. pos[i + 1]
    a[i] += b[p]
for i: int32 in 1 .. n
  for p: int32 in pos[i] .. pos[i + 1]
    if crd[p] == 7
      break
for i: int32 in 0 .. n
  for p: int32 in crd[i] .. crd[i + 1]
    a[p] = 0.0
)");
}

}  // namespace
}  // namespace spdistal::passes
