// What verify refuses, one by one: the semantics of nodes.hpp.
#include "ir/verify.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ir/build.hpp"

namespace spdistal::ir {
namespace {

using ::testing::HasSubstr;

class VerifyTest : public ::testing::Test {
 protected:
  FunctionBuilder f{"f"};
  Var in = f.array("in", 0, ScalarType::Float64);
  Var out = f.array("out", 1, ScalarType::Float64, Access::Write);
  Var ints = f.array("ints", 2, ScalarType::Int32, Access::Write);
  Var n = f.scalar("n", 0);
  Var x = var("x", Float64);

  void refused(const std::string& why) {
    auto result = verify(f.build());
    ASSERT_FALSE(result) << "expected: " << why;
    EXPECT_THAT(result.refusal().message, HasSubstr(why));
  }
};

TEST_F(VerifyTest, UndeclaredVariables) {
  f.store(out, 0, x);
  refused("'x' is declared before it is used");
}

TEST_F(VerifyTest, VariablesOutOfScope) {
  f.when(n < 3, [&] { f.add(Declare{x, zero(Float64), Mutability::Const}); });
  f.store(out, 0, x);
  refused("'x' is declared before it is used");
}

TEST_F(VerifyTest, VariablesDeclaredTwiceOnOnePath) {
  f.add(Declare{x, zero(Float64), Mutability::Const});
  f.when(n < 3, [&] { f.add(Declare{x, zero(Float64), Mutability::Const}); });
  refused("'x' is declared once");
}

TEST_F(VerifyTest, ButNotInSiblingScopes) {
  for (int turn = 0; turn < 2; turn++) f.when(n < 3, [&] { f.add(Declare{x, zero(Float64), Mutability::Const}); });
  EXPECT_TRUE(verify(f.build()));
}

TEST_F(VerifyTest, VariablesUsedWithAnotherType) {
  f.add(Declare{x, zero(Float64), Mutability::Const});
  f.add(Store{StoreMode::Set, ints, n, Var{x.symbol, Int32}});
  refused("'x' is used with the type it was declared with");
}

TEST_F(VerifyTest, AssignmentsToConstants) {
  Var c = f.constant("c", 1.0);
  f.assign(c, 2.0);
  refused("'c' is mutable");
}

TEST_F(VerifyTest, AssignmentsToLoopVariables) {
  f.loop("i", 0, n, [&](Var i) { f.assign(i, 2); });
  refused("'i' is mutable");
}

TEST_F(VerifyTest, AssignmentsToWhatThreadsShare) {
  Var v = f.variable("v", 1.0);
  f.parallel("t", n, [&](Var) { f.assign(v, 2.0); });
  refused("'v' is shared by threads");
}

TEST_F(VerifyTest, OperandsOfDifferentTypes) {
  f.add(Store{StoreMode::Set, ints, n, Binary{BinaryOp::Add, int32(1), int64(1)}});
  refused("operands have one type, not int32 and int64");
}

TEST_F(VerifyTest, ValuesStoredAsAnotherType) {
  f.add(Store{StoreMode::Set, ints, n, int64(1)});
  refused("stored as int32, not int64");
}

TEST_F(VerifyTest, StoresToConstArrays) {
  f.store(in, 0, 1);
  refused("'in' may be written");
}

TEST_F(VerifyTest, IndicesThatAreNone) {
  f.add(Store{StoreMode::Set, out, zero(Float64), zero(Float64)});
  refused("an index is an int32 or int64, not double");
}

TEST_F(VerifyTest, ArraysAsValuesAndValuesAsArrays) {
  f.add(Declare{x, in, Mutability::Const});
  refused("an operand is a value");
  f = FunctionBuilder("g");
  Var m = f.scalar("m", 0);
  f.constant("c", load(m, 0));
  refused("'m' is an array");
}

TEST_F(VerifyTest, ConditionsThatAreNumbers) {
  f.add(While{n, Block{}});
  refused("a condition is a bool, not int64");
}

TEST_F(VerifyTest, ArithmeticOnBools) {
  Var flag = f.constant("flag", true);
  f.constant("c", Expr(Binary{BinaryOp::Add, flag, flag}));
  refused("arithmetic is for numbers");
}

TEST_F(VerifyTest, OrderOfComplexNumbers) {
  Expr z = zero(Complex128);
  f.constant("c", Expr(Binary{BinaryOp::Lt, z, z}));
  refused("order is for real numbers");
}

TEST_F(VerifyTest, ComplexNumbersTurnedReal) {
  f.constant("c", Expr(Cast{ScalarType::Float64, zero(Complex128)}));
  refused("complex numbers are not converted to real ones");
}

TEST_F(VerifyTest, FunctionsThatDoNotExist) {
  f.constant("c", call(Math::Sqrt, {n}));
  refused("sqrt exists for int64");
}

TEST_F(VerifyTest, FunctionsWithTooFewArguments) {
  f.constant("c", call(Math::Pow, {zero(Float64)}));
  refused("pow has 2 arguments");
}

TEST_F(VerifyTest, AtomicsOutsideOfParallel) {
  f.atomic_add(out, 0, 1.0);
  refused("atomic stores stand inside Parallel");
}

TEST_F(VerifyTest, ParallelInParallelAndResizeInParallel) {
  f.parallel("t", n, [&](Var) { f.parallel("s", n, [&](Var) {}); });
  refused("Parallel does not nest");
  f = FunctionBuilder("g");
  Var grow = f.array("grow", 0, ScalarType::Int32, Access::Write), m = f.scalar("m", 0);
  f.parallel("t", m, [&](Var) { f.resize(grow, m); });
  refused("Resize stands outside of Parallel");
}

TEST_F(VerifyTest, ShrinkInParallelAndOfWhatIsNoResult) {
  Var w = f.allocate("w", ScalarType::Int32, n, Fill::Zeroed);
  f.shrink(w, n);
  refused("'w' is a result that can grow");
  f = FunctionBuilder("g");
  Var kept = f.array("kept", 0, ScalarType::Int32, Access::Write), m = f.scalar("m", 0);
  f.parallel("t", m, [&](Var) { f.shrink(kept, m); });
  refused("Shrink stands outside of Parallel");
}

TEST_F(VerifyTest, AppendOutsideOfParallelAndOfWhatIsShared) {
  Var grown = f.array("grown", 0, ScalarType::Int32, Access::Write);
  Var w = f.allocate("w", ScalarType::Int32, n, Fill::Zeroed);
  f.append(grown, n, n, w, n);
  refused("Append stands in Parallel");
  f = FunctionBuilder("g");
  Var to = f.array("to", 0, ScalarType::Int32, Access::Write), m = f.scalar("m", 0);
  Var all = f.allocate("all", ScalarType::Int32, m, Fill::Zeroed);
  f.parallel("t", m, [&](Var t) { f.append(to, t, m, all, m); });
  refused("a share appends what it has allocated");
}

TEST_F(VerifyTest, MoreThanMemoryOfAThreadsOwn) {
  f.parallel(
      "t", n, [&](Var) {}, [&] { f.constant("x", n + 1); });
  refused("each thread for itself allocates, and does nothing else");
}

TEST_F(VerifyTest, ResizeOfWhatIsNoResult) {
  Var w = f.allocate("w", ScalarType::Int32, n, Fill::Zeroed);
  f.resize(w, n);
  refused("'w' is a result that can grow");
}

TEST_F(VerifyTest, BreaksOutsideOfLoops) {
  f.when(n < 3, [&] { f.stop(); });
  refused("Break stands in a loop");
  f = FunctionBuilder("g");
  Var m = f.scalar("m", 0);
  f.loop("i", 0, m, [&](Var) { f.parallel("t", m, [&](Var) { f.stop(); }); });
  refused("Break stands in a loop");
}

TEST_F(VerifyTest, ReturnsFromLoopsAndWithoutACode) {
  f.when(n < 3, [&] { f.leave(1); });
  EXPECT_TRUE(verify(f.build()));
  f.loop("i", 0, n, [&](Var) { f.leave(1); });
  refused("Return stands outside of loops");
  f = FunctionBuilder("g");
  Var m = f.scalar("m", 0);
  f.parallel("t", m, [&](Var) { f.leave(1); });
  refused("Return stands outside of loops and of Parallel");
  f = FunctionBuilder("h");
  f.leave(0);
  refused("a function returns 0 at its end only");
}

TEST_F(VerifyTest, BreaksOutOfVectorLoopsButNotOutOfLoopsInThem) {
  LoopOptions vector{.kind = LoopKind::Vector};
  f.loop(
      "i", 0, n, [&](Var) { f.loop("j", 0, n, [&](Var) { f.stop(); }); }, vector);
  EXPECT_TRUE(verify(f.build()));
  f.loop(
      "i", 0, n, [&](Var) { f.when(n < 3, [&] { f.stop(); }); }, vector);
  refused("Break stands in a loop that is no vector");
}

TEST_F(VerifyTest, VectorLoopsThatAreNoReductions) {
  LoopOptions vector{.kind = LoopKind::Vector};
  Var sum = f.variable("sum", 0.0);
  f.loop(
      "i", 0, n,
      [&](Var i) {
        Var own = f.variable("own", 0.0);
        f.assign(own, load(in, i));
        f.increase(sum, own);
      },
      vector);
  EXPECT_TRUE(verify(f.build()));
  auto with = [&](const Stmt& body) {
    f.add(For{var("i", Int64), int64(0), n, int64(1), body, LoopKind::Vector});
    refused("a vector loop updates 'sum' as x = x op e");
  };
  with(Assign{sum, load(in, 0)});
  f = FunctionBuilder("g");
  n = f.scalar("n", 0), out = f.array("out", 1, ScalarType::Float64, Access::Write), sum = f.variable("sum", 0.0);
  with(Block{{Assign{sum, sum + 1.0}, store(out, 0, sum)}});
}

TEST_F(VerifyTest, FunctionsAndComparisonsOfVectors) {
  f.constant("c", Expr(Binary{BinaryOp::Lt, load(in, 0, 4), load(in, 0, 4)}));
  refused("vectors have arithmetic alone");
  f = FunctionBuilder("g");
  Var a = f.array("a", 0, ScalarType::Float64);
  f.constant("c", call(Math::Sqrt, {load(a, 0, 4)}));
  refused("sqrt exists for double x 4");
}

TEST_F(VerifyTest, LoopsWithMixedBoundsOrNoStep) {
  f.add(For{var("i", Int32), int32(0), n, int32(1), Block{}});
  refused("a loop's bounds have its variable's type");
  f = FunctionBuilder("g");
  f.add(For{var("i", Int32), int32(0), int32(4), int32(0), Block{}});
  refused("a loop's step is positive");
}

TEST_F(VerifyTest, SortingOfFloats) {
  f.sort(out, 0, n);
  refused("integers are sorted");
}

TEST_F(VerifyTest, BarriersOutsideOfGpuThreads) {
  f.add(Barrier{});
  refused("a barrier stands inside of GPU threads");
}

TEST_F(VerifyTest, WhatThreadsOfAGpuDoTogetherOutsideOfThem) {
  Var keys = f.allocate("keys", ScalarType::Int32, 8, Fill::Zeroed);
  f.add(Sort{keys, int64(0), int64(8), warp_size});
  refused("one thread sorts, or a warp of a GPU");
  f = FunctionBuilder("g");
  keys = f.allocate("keys", ScalarType::Int32, 8, Fill::Zeroed);
  f.add(Claim{f.variable("found", int32(0)), keys, int64(0), int32(1)});
  refused("threads of a GPU claim elements");
}

TEST_F(VerifyTest, TheRefusalShowsTheOffendingPart) {
  f.atomic_add(out, 0, 1.0);
  EXPECT_THAT(verify(f.build()).refusal().str(), HasSubstr("out[0] atomic+= 1.0"));
}

TEST_F(VerifyTest, PartsThatChangeMoreThanTheirPlaces) {
  Var at = var("at", Int64);
  f.define("part", {}, {at}, [&] { f.store(out, at, 1.0); });
  refused("'out' is none of the places of the part");
}

TEST_F(VerifyTest, PartsThatAreNotDefinedOrPerformedOtherwise) {
  Var at = var("at", Int64), mine = f.variable("mine", int64(0));
  f.when(n < 3, [&] { f.perform(LocalPart{Symbol("part"), {}, {at}}, {}, {mine}); });
  refused("'part' is defined before it is performed");
}

TEST_F(VerifyTest, PlacesThatAreConstantOrTwice) {
  Var a = var("a", Int64), b = var("b", Int64);
  LocalPart part = f.define("part", {}, {a, b}, [&] { f.increase(a, b); });
  Var mine = f.variable("mine", int64(0));
  f.perform(part, {}, {mine, mine});
  refused("'mine' is one place, not two");
}

TEST_F(VerifyTest, BoolsOfPartsThatAreNoLiterals) {
  LocalPart part = f.define("part", {var("fill", Bool)}, {}, [] {});
  f.perform(part, {n < 3}, {});
  refused("a bool that a part is performed with is a literal");
}

TEST_F(VerifyTest, PartsInsideOfBranches) {
  f.when(n < 3, [&] { f.define("part", {}, {}, [] {}); });
  refused("a part is defined outside of loops, branches and Parallel");
}

}  // namespace
}  // namespace spdistal::ir
