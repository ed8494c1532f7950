#include "ir/build.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "ir/print.hpp"

namespace spdistal::ir {
namespace {

Var i32 = var("i", Int32), i64 = var("m", Int64), x = var("x", Float64), y = var("y", Float32),
    z = var("z", Complex128);
Var flag = var("flag", Bool);

TEST(Build, OperandsAreConvertedAsInCpp) {
  EXPECT_EQ(print(i32 + i64), "int64(i) + m");
  EXPECT_EQ(print(i32 * x), "double(i) * x");
  EXPECT_EQ(print(y * x), "double(y) * x");
  EXPECT_EQ(print(x * z), "complex128(x) * z");
  EXPECT_EQ(print(flag + i32), "int32(flag) + i");
  EXPECT_EQ(print(i32 && flag), "bool(i) && flag");
  EXPECT_EQ(type_of(i32 < i64), Bool);
  EXPECT_EQ(type_of(flag + flag), Int32);
}

TEST(Build, NumbersTakeTheTypeOfWhatTheyMeet) {
  EXPECT_EQ(type_of(i32 + 1), Int32);
  EXPECT_EQ(type_of(y * 2), Float32);
  EXPECT_EQ(type_of(y * 2.5), Float32);
  EXPECT_EQ(type_of(i32 * 2.5), Float64);
  EXPECT_EQ(type_of(i32 + int64_t{1} * 3000000000), Int64);
  EXPECT_EQ(type_of(select(flag, 1, i32)), Int32);
}

TEST(Build, FoldsWhatIsTrivialForIntegers) {
  EXPECT_EQ(print(i32 + 0), "i");
  EXPECT_EQ(print(0 + i32), "i");
  EXPECT_EQ(print(i32 - 0), "i");
  EXPECT_EQ(print(i32 * 1), "i");
  EXPECT_EQ(print(1 * i32), "i");
  EXPECT_EQ(print(i32 * 0), "0");
  EXPECT_EQ(print(i32 + 2 + 3), "i + 5");
  EXPECT_EQ(print(i32 + 2 - 3), "i - 1");
  EXPECT_EQ(print((i32 + 2) - i32), "2");
  EXPECT_EQ(print(i32 - i32), "0");
  EXPECT_EQ(print(i32 / 1), "i");
  EXPECT_EQ(print(i32 % 1), "0");
  EXPECT_EQ(print(int32(7) / int32(2)), "3");
  EXPECT_EQ(print(int32(-7) % int32(2)), "-1");
  EXPECT_EQ(print(int32(7) / int32(0)), "7 / 0");
  EXPECT_EQ(print(min(int32(7), int32(2))), "2");
  EXPECT_EQ(print(int32(7) < int32(2)), "false");
  EXPECT_EQ(print(!(i32 < 3)), "i >= 3");
  EXPECT_EQ(print(flag && true), "flag");
  EXPECT_EQ(print(flag || true), "true");
  EXPECT_EQ(print(select(int32(1) < int32(2), i32, 5)), "i");
}

TEST(Build, FoldsFloatsOnlyWhereItIsExact) {
  EXPECT_EQ(print(x * 1), "x");
  EXPECT_EQ(print(x / 1), "x");
  EXPECT_EQ(print(x - 0), "x");
  EXPECT_EQ(print(x + 0), "x + 0.0") << "-0.0 + 0.0 is 0.0";
  EXPECT_EQ(print(x * 0), "x * 0.0") << "NaN * 0 is NaN";
  EXPECT_EQ(print(x - x), "x - x");
  EXPECT_EQ(print(!(x < 3)), "!(x < 3.0)") << "NaN is neither";
  EXPECT_EQ(print(x - zero(Float64) * -1.0), "x - -0.0");
  EXPECT_EQ(print(equal(x, x)), "x == x");
}

TEST(Build, LiteralsAreEqualByBits) {
  double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_TRUE(literal(Scalar::of(nan)) == literal(Scalar::of(nan)));
  EXPECT_FALSE(literal(Scalar::of(0.0)) == literal(Scalar::of(-0.0)));
  EXPECT_FALSE(literal(Scalar::of(int32_t{1})) == literal(Scalar::of(int64_t{1})));
  EXPECT_EQ(std::hash<Expr>{}(literal(Scalar::of(nan))), std::hash<Expr>{}(literal(Scalar::of(nan))));
}

TEST(Build, LoopsThatCarryAVariableAreNoVectors) {
  Body b;
  LoopOptions vector{.kind = LoopKind::Vector};
  Var a = var("a", array_of(ScalarType::Float64));
  Var sum = b.variable("sum", 0.0), at = b.variable("at", int32(0));
  b.loop(
      "k", int32(0), int32(8), [&](Var k) { b.increase(sum, load(a, k)); }, vector);
  b.loop(
      "k", int32(0), int32(8), [&](Var) { b.store(a, at, 0), b.increase(at, 1); }, vector);
  b.loop(
      "k", int32(0), int32(8), [&](Var k) { b.assign(at, select(k < 3, at + 1, at)); }, vector);
  EXPECT_EQ(print(b.build()), R"(var sum: double = 0.0
var at: int32 = 0
for k: int32 in 0 .. 8 vector
  sum = sum + a[k]
for k: int32 in 0 .. 8
  a[at] = 0.0
  at = at + 1
for k: int32 in 0 .. 8
  at = k < 3 ? at + 1 : at
)");
}

TEST(Build, VectorsMeetScalarsByBroadcast) {
  Var a = var("a", array_of(ScalarType::Float64));
  EXPECT_EQ(print(load(a, i32, 8) * x), "a[i x 8] * broadcast(x, 8)");
  EXPECT_EQ(type_of(load(a, i32, 8) * x), (Type{ScalarType::Float64, Type::Form::Value, 8}));
}

}  // namespace
}  // namespace spdistal::ir
