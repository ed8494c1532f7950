#include "ir/print.hpp"

#include <gtest/gtest.h>

#include "ir/build.hpp"
#include "ir/verify.hpp"
#include "unit/ir/level_arrays.hpp"

namespace spdistal::ir {
namespace {

using testing::crd_array;

Var i = var("i", Int32), j = var("j", Int32), x = var("x", Float64), b = var("b", Bool);
Var a = var("a", array_of(ScalarType::Float64)), pos = var("pos", const_array_of(ScalarType::Int32));

TEST(Print, ExpressionsHaveTheParenthesesTheyNeed) {
  EXPECT_EQ(print(i + j * 2), "i + j * 2");
  EXPECT_EQ(print((i + j) * 2), "(i + j) * 2");
  EXPECT_EQ(print(i - (j - 1)), "i - (j - 1)");
  EXPECT_EQ(print(i - j - 1), "i - j - 1");
  EXPECT_EQ(print(i / (j * 2)), "i / (j * 2)");
  EXPECT_EQ(print(-(i + j)), "-(i + j)");
  EXPECT_EQ(print(!(b && i < j)), "!(b && i < j)");
  EXPECT_EQ(print((b || i < j) && b), "(b || i < j) && b");
  EXPECT_EQ(print(min(i, max(j, 2))), "min(i, max(j, 2))");
  EXPECT_EQ(print(select(b, i, select(i < j, j, 0)) + 1), "(b ? i : i < j ? j : 0) + 1");
  EXPECT_EQ(print(i * int32(-3)), "i * -3");
}

TEST(Print, EveryKindOfExpression) {
  EXPECT_EQ(print(load(a, i + 1)), "a[i + 1]");
  EXPECT_EQ(print(load(a, i, 4)), "a[i x 4]");
  EXPECT_EQ(print(cast(ScalarType::Int64, i)), "int64(i)");
  EXPECT_EQ(print(call(Math::Pow, {x, x})), "pow(x, x)");
  EXPECT_EQ(print(lower_bound(pos, 0, i, 7)), "lower_bound(pos, 0, i, 7)");
  EXPECT_EQ(print(upper_bound(pos, 0, i, j)), "upper_bound(pos, 0, i, j)");
  EXPECT_EQ(print(broadcast(x, 4)), "broadcast(x, 4)");
  EXPECT_EQ(print(Expr(WarpReduce{BinaryOp::Add, x})), "warp_reduce(+, x)");
  EXPECT_EQ(print(Expr(WarpScan{BinaryOp::Max, x, 8})), "warp_scan(max, x, 8 lanes)");
  EXPECT_EQ(print(Expr(Shuffle{Peer::Lane, x, i})), "shuffle(x, i)");
  EXPECT_EQ(print(Expr(Shuffle{Peer::Up, x, i, 16})), "shuffle_up(x, i, 16 lanes)");
  EXPECT_EQ(print(Expr(WarpVote{Vote::Count, b})), "warp_count(b)");
  EXPECT_EQ(print(literal(Scalar::of(true))), "true");
  EXPECT_EQ(print(literal(Scalar::of(1.0))), "1.0");
  EXPECT_EQ(print(literal(Scalar::of(1e300))), "1e+300");
  EXPECT_EQ(print(literal(Scalar::of(0.5f))), "0.5f");
  EXPECT_EQ(print(literal(Scalar::of(std::complex<float>(1, -2)))), "complex64(1, -2)");
}

TEST(Print, WhatThreadsOfAGpuDoTogether) {
  Var found = var("found", Int32);
  EXPECT_EQ(print(Stmt(Claim{found, pos, i, int32(3)})), "found = pos[i], claimed for 3\n");
  EXPECT_EQ(print(Stmt(Sort{pos, i, j, warp_size})), "sort pos[i .. j] by lanes\n");
}

TEST(Print, EveryKindOfStatementAndReusedNames) {
  FunctionBuilder f("all");
  Var out = f.vals("out", 0, ScalarType::Float64, Access::Write);
  Var crd = crd_array(f, "crd", 1, 2, ScalarType::Int32, Access::Write);
  Var n = f.number("n", Source::Field::Extent, 1, 0, ScalarType::Int32);
  Var m = f.scalar("m", 3);
  Var index = f.array("index", 4, ScalarType::Int64);
  Var shares = f.shares();
  f.threads();
  f.comment("All statements.");
  Var c = f.constant("c", n + 1);
  Var v = f.variable("v", 0.5);
  f.assign(v, v * 2);
  f.resize(crd, c);
  f.parallel("t", shares, [&](Var t) { f.atomic_add(out, t, v); });
  f.loop("p", int32(0), n,
         [&](Var p) {
           f.store(out, p, v);
           f.store_add(out, p, 1);
           f.prefetch(index, p + 8);
         },
         {.unroll = 4});
  f.loop("p", int32(0), int32(8), [&](Var p) { f.store(out, p, 0); }, {.kind = LoopKind::Vector});
  f.loop("p", int32(0), int32(8), [&](Var p) { f.store(out, p, 0); }, {.unroll = 0, .step = int32(2)});
  Var w = f.allocate("w", ScalarType::Int32, m, Fill::Uninitialised);
  f.sort(w, 0, m);
  f.loop_while(v < 3, [&] {
    f.when(
        v < 1, [&] { f.stop(); }, [&] { f.increase(v, 1); });
  });
  f.add(Block{{Declare{var("c", Int32), c, Mutability::Const}}});
  Function all = f.build();
  EXPECT_TRUE(verify(all));
  EXPECT_EQ(print(all), R"(function all
  param out: double[] = tensor 0 vals
  param crd: int32[] = tensor 1 level 2 crd
  param n: int32 = tensor 1 level 0 extent
  param m: int64 = scalar 3
  param index: const int64[] = array 4
  param shares: int64 = shares
  param threads: int64 = threads
  # All statements.
  const c: int32 = n + 1
  var v: double = 0.5
  v = v * 2.0
  resize crd to c
  parallel t: int64 in 0 .. shares
    out[t] atomic+= v
  for p: int32 in 0 .. n unroll 4
    out[p] = v
    out[p] += 1.0
    prefetch index[p + 8]
  for p: int32 in 0 .. 8 vector
    out[p] = 0.0
  for p: int32 in 0 .. 8 step 2 unroll
    out[p] = 0.0
  allocate w: int32[m] uninitialised
  sort w[0 .. m]
  while v < 3.0
    if v < 1.0
      break
    else
      v = v + 1.0
  block
    const c2: int32 = c
)");
}

TEST(Print, PartsThatAreWrittenOnce) {
  FunctionBuilder f("twice");
  Var out = f.vals("out", 0, ScalarType::Float64, Access::Write), n = f.scalar("n", 0);
  Var to = var("to", array_of(ScalarType::Float64)), at = var("at", Int64), end = var("end", Int64);
  LocalPart fill = f.define("fill", {end}, {at, to}, [&] {
    f.loop_while(at < end, [&] {
      f.store(to, at, 1.0);
      f.increase(at, 1);
    });
  });
  Var here = f.variable("here", int64(0));
  f.perform(fill, {n / 2}, {here, out});
  f.perform(fill, {n}, {here, out});
  EXPECT_TRUE(verify(f.build()));
  EXPECT_EQ(print(f.build()),
            "function twice\n"
            "  param out: double[] = tensor 0 vals\n"
            "  param n: int64 = scalar 0\n"
            "  define fill(end: int64; at: int64, to: double[])\n"
            "    while at < end\n"
            "      to[at] = 1.0\n"
            "      at = at + 1\n"
            "  var here: int64 = 0\n"
            "  fill(n / 2; here, out)\n"
            "  fill(n; here, out)\n");
}

}  // namespace
}  // namespace spdistal::ir
