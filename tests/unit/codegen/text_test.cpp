// The C++ text of single expressions and statements.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include <cmath>
#include <limits>

#include "codegen/cpp.hpp"
#include "codegen/jit.hpp"
#include "ir/build.hpp"
#include "ir/interpret.hpp"
#include "ir/math.hpp"
#include "ir/verify.hpp"
#include "unit/ir/call_data.hpp"

namespace spdistal::codegen {
namespace {

using namespace ir;
using testing::CallData;
using ::testing::HasSubstr;

/// The lines of a function's body after its parameters.
std::string body(const FunctionBuilder& f) {
  auto legal = verify(f.build());
  EXPECT_TRUE(legal) << (legal ? "" : legal.refusal().str());
  std::string text = cpp_text(f.build());
  size_t from = text.find("\n\n", text.find("extern")) + 2, to = text.find("  return 0;");
  return text.substr(from, to - from);
}

class TextTest : public ::testing::Test {
 protected:
  FunctionBuilder f{"f"};
  Var a = f.array("a", 0, ScalarType::Float64, Access::Write),
      z = f.array("z", 1, ScalarType::Complex128, Access::Write);
  Var pos = f.array("pos", 2, ScalarType::Int32), n = f.scalar("n", 0, ScalarType::Int32), m = f.scalar("m", 1);
};

TEST_F(TextTest, LeavesConversionsToTheLanguageWhereItDoesTheSame) {
  f.constant("wide", cast(ScalarType::Int64, n));
  f.constant("sum", n + m);
  f.constant("product", cast(ScalarType::Int64, n) * 32);
  f.constant("half", n * 0.5);
  f.constant("narrow", cast(ScalarType::Int32, m));
  f.constant("least", min(m, 5));
  f.constant("both", cast(ScalarType::Int64, n) * cast(ScalarType::Int64, n));
  f.store(a, cast(ScalarType::Int64, n), n);
  f.constant("truth", cast(ScalarType::Bool, n));
  f.constant("chosen", select(n < m, cast(ScalarType::Int64, n), m));
  Expr positive = cast(ScalarType::Int32, n > 0), small = cast(ScalarType::Int32, m < 9);
  f.constant("bools", max(n, min(positive, small)));
  EXPECT_EQ(body(f), R"(  const int64_t wide = n;
  const int64_t sum = n + m;
  const int64_t product = int64_t(n) * 32;
  const double half = n * 0.5;
  const int32_t narrow = int32_t(m);
  const int64_t least = min<int64_t>(m, 5);
  const int64_t both = int64_t(n) * n;
  a[n] = n;
  const bool truth = n != 0;
  const int64_t chosen = n < m ? n : m;
  const int32_t bools = max(n, min<int32_t>(n > 0, m < 9));
)");
}

TEST_F(TextTest, TakesSeveralVectorsOfOneRowFromAPointerToIt) {
  Var b = f.array("b", 3, ScalarType::Float64);
  Var offset = f.constant("offset", m * 16), both = f.constant("both", m * 8), one = f.constant("one", m * 4);
  Var x = f.variable("x", load(b, offset, 8)), y = f.variable("y", load(b, Expr(offset) + 8, 8));
  f.store(a, Expr(both) + 8, x);
  f.store(a, both, y);
  f.assign(x, load(b, both, 8) + load(b, Expr(both) + 16, 8));
  f.assign(y, load(b, one, 8));
  EXPECT_EQ(body(f), R"(  const double* b_row = b + m * 16;
  const int64_t both = m * 8;
  double* a_row = a + both;
  const double* b_row2 = b + both;
  const int64_t one = m * 4;
  doublex8 x = *(const doublex8*)b_row;
  doublex8 y = *(const doublex8*)&b_row[8];
  *(doublex8*)&a_row[8] = x;
  *(doublex8*)a_row = y;
  x = *(const doublex8*)b_row2 + *(const doublex8*)&b_row2[16];
  y = *(const doublex8*)&b[one];
)");
}

TEST_F(TextTest, WritesUpdatesLoopsAndBranchesLikeAPerson) {
  Var sum = f.variable("sum", zero(Float64));
  Var k = f.variable("k", int32(0));
  f.loop("i", int32(0), n,
         [&](Var i) {
           f.loop("p", load(pos, i), load(pos, i + 1), [&](Var p) { f.increase(sum, load(a, p)); });
           f.when(
               i < 3, [&] { f.increase(k, 1); },
               [&] {
                 f.when(
                     i < 5, [&] { f.assign(k, k - 1); }, [&] { f.stop(); });
               });
         },
         {.unroll = 4});
  f.loop("i", int32(0), n * 2,
         [&](Var i) {
           Var x = f.constant("x", load(a, i));
           f.increase(sum, x * x);
         },
         {.kind = LoopKind::Vector});
  f.store_add(a, 0, sum);
  EXPECT_EQ(body(f), R"(  double sum = 0;
  int32_t k = 0;
  #pragma GCC unroll 4
  for (int32_t i = 0; i < n; i++) {
    for (int32_t p = pos[i], p_end = pos[i + 1]; p < p_end; p++)
      sum += a[p];
    if (i < 3)
      k++;
    else if (i < 5)
      k--;
    else
      break;
  }
  const int32_t i_end = n * 2;
  #pragma omp simd reduction(+: sum)
  for (int32_t i = 0; i < i_end; i++) {
    const double x = a[i];
    sum += x * x;
  }
  a[0] += sum;
)");
}

TEST_F(TextTest, GivesEveryVariableANameThatCppAllows) {
  Var first = f.constant("int", n), second = f.constant("int", n + 1), third = f.constant("B.pos[0]", n + 2);
  Var fourth = f.constant("", n + 3), fifth = f.constant("call", first + second + third + fourth);
  f.store(a, fifth, 0);
  EXPECT_EQ(body(f), R"(  const int32_t int2 = n;
  const int32_t int3 = n + 1;
  const int32_t B_pos_0_ = n + 2;
  const int32_t v = n + 3;
  const int32_t call2 = int2 + int3 + B_pos_0_ + v;
  a[call2] = 0;
)");
}

TEST_F(TextTest, WhatThreadsHaveForThemselvesIsMadeOncePerThread) {
  std::optional<Var> own;
  f.parallel(
      "t", m, [&](Var t) { f.store(*own, t, 1); },
      [&] { own = f.allocate("own", ScalarType::Int32, m, Fill::Zeroed); });
  EXPECT_EQ(body(f), R"(  #pragma omp parallel num_threads(call->context->threads)
  {
    own_scratch<int32_t> own(call, m, true);
    #pragma omp for schedule(dynamic, 1)
    for (int64_t t = 0; t < m; t++) {
      if (call->context->failed(call->context)) continue;
      own[t] = 1;
    }
  }
  call->context->rethrow(call->context);
)");
}

TEST_F(TextTest, MemoryThatAShareTakesIsCaughtWhereThereIsNone) {
  f.parallel("t", m, [&](Var t) {
    Var part = f.allocate("part", ScalarType::Int32, m, Fill::Zeroed);
    f.store(part, t, 1);
  });
  EXPECT_EQ(body(f), R"(  #pragma omp parallel for num_threads(call->context->threads) schedule(dynamic, 1)
  for (int64_t t = 0; t < m; t++) {
    if (call->context->failed(call->context)) continue;
    try {
      scratch<int32_t> part(call, m, true);
      part[t] = 1;
    }
    catch (...) { call->context->fail(call->context); }
  }
  call->context->rethrow(call->context);
)");
}

TEST_F(TextTest, AtomicsAreOnePragmaOrTwoForComplexNumbers) {
  f.parallel("t", m, [&](Var t) {
    f.atomic_add(a, 0, t);
    f.atomic_add(z, 0, load(z, 1) * load(z, 2));
  });
  EXPECT_EQ(body(f), R"(  #pragma omp parallel for num_threads(call->context->threads) schedule(dynamic, 1)
  for (int64_t t = 0; t < m; t++) {
    #pragma omp atomic
    a[0] += t;
    #pragma omp atomic
    __real__ z[0] += __real__ (z[1] * z[2]);
    #pragma omp atomic
    __imag__ z[0] += __imag__ (z[1] * z[2]);
  }
)");
}

/// One kernel that computes every mathematical function of every type it exists for, against the interpreter.
TEST(CompiledKernels, HaveEveryMathematicalFunctionForEveryTypeItExistsFor) {
  FunctionBuilder f("math");
  std::vector<std::vector<char>> in, out;
  int next = 0, count = 0;
  CallData interpreted, compiled;
  std::vector<std::vector<char>> results[2];
  for (ScalarType type : all_scalar_types) {
    auto& bytes = in.emplace_back(size_of(type) * 2);
    with_type(type, [&](auto zero) {
      using T = decltype(zero);
      T values[2] = {T(0.75), T(0.5)};
      if constexpr (!std::is_arithmetic_v<T>) values[0] = T(0.75, -0.25);
      if constexpr (std::is_integral_v<T>) values[0] = T(-3);
      std::memcpy(bytes.data(), values, sizeof values);
    });
  }
  for (size_t t = 0; t < 7; t++) {
    Var from = f.array("in", next++, all_scalar_types[t]);
    for (int m = 0; m < math_functions; m++) {
      if (!exists_for(Math(m), all_scalar_types[t])) continue;
      std::vector<Expr> args;
      args.reserve(2);
      args.push_back(load(from, 0));
      if (info(Math(m)).arity == 2) args.push_back(load(from, 1));
      ScalarType type = result_type(Math(m), all_scalar_types[t]);
      Var to = f.array("out", next++, type, Access::Write);
      f.store(to, 0, call(Math(m), args));
      count++;
    }
  }
  auto legal = verify(f.build());
  ASSERT_TRUE(legal) << legal.refusal().str();
  for (int w = 0; w < 2; w++) {
    CallData& data = w == 0 ? interpreted : compiled;
    for (const Param& p : f.build().params) {
      if (p.var.symbol.name() == "in") data.array({in[size_t(p.var.type.scalar)].data(), 2, nullptr});
      else data.array({results[w].emplace_back(size_of(p.var.type.scalar)).data(), 1, nullptr});
    }
  }
  interpret(f.build(), interpreted.get());
  Jit({}).load(f.build())(compiled.get());
  size_t r = 0;
  for (const Param& p : f.build().params) {
    if (p.var.symbol.name() == "in") continue;
    with_type(p.var.type.scalar, [&](auto zero) {
      using T = decltype(zero);
      T x, y;
      std::memcpy(&x, results[0][r].data(), sizeof x);
      std::memcpy(&y, results[1][r].data(), sizeof y);
      if constexpr (std::is_integral_v<T>) EXPECT_EQ(x, y);
      else EXPECT_LE(std::abs(x - y), 4 * std::abs(x) * std::numeric_limits<decltype(std::abs(x))>::epsilon()) << r;
    });
    r++;
  }
  EXPECT_EQ(r, size_t(count));
  EXPECT_GT(count, 70);
}

/// Whole numbers as values, so that the order of a reduction does not matter.
TEST(CompiledKernels, ReduceInVectorLoopsByEveryOperationOfEveryType) {
  FunctionBuilder f("reductions");
  std::vector<std::vector<char>> in, results[2];
  CallData calls[2];
  for (ScalarType type : all_scalar_types) {
    auto& bytes = in.emplace_back(size_of(type) * 9);
    with_type(type, [&](auto zero) {
      using T = decltype(zero);
      T values[9];
      for (int k = 0; k < 9; k++) values[k] = T(k % 4 * 2 - 3);
      std::memcpy(bytes.data(), values, sizeof values);
    });
  }
  int next = 0;
  for (ScalarType type : all_scalar_types) {
    Var from = f.array("in", next++, type);
    using enum BinaryOp;
    std::vector<BinaryOp> ops = type == ScalarType::Bool ? std::vector{And, Or}
                                : is_complex(type)       ? std::vector{Add, Sub}
                                                         : std::vector{Add, Sub, Mul, Min, Max};
    for (BinaryOp op : ops) {
      Var to = f.array("out", next++, type, Access::Write);
      Var x = f.variable("x", load(from, 1));
      f.loop("k", int32(0), int32(9), [&](Var k) { f.assign(x, binary(op, x, load(from, k))); },
             {.kind = LoopKind::Vector});
      f.store(to, 0, x);
    }
  }
  auto legal = verify(f.build());
  ASSERT_TRUE(legal) << legal.refusal().str();
  for (int w = 0; w < 2; w++)
    for (const Param& p : f.build().params) {
      if (p.var.symbol.name() == "in") calls[w].array({in[size_t(p.var.type.scalar)].data(), 9, nullptr});
      else calls[w].array({results[w].emplace_back(size_of(p.var.type.scalar)).data(), 1, nullptr});
    }
  interpret(f.build(), calls[0].get());
  Jit({}).load(f.build())(calls[1].get());
  EXPECT_EQ(results[0], results[1]);
}

/// What is beyond all integers, or no number, has a definition: the one of the interpreter.
TEST(CompiledKernels, MakeIntegersOfAllFloats) {
  FunctionBuilder f("whole");
  double inf = std::numeric_limits<double>::infinity();
  std::vector<double> doubles{0.75, -2.5, inf, -inf, std::nan(""), 2147483648.0, -2147483649.0, 1e300, 9.3e18};
  std::vector<float> floats(doubles.begin(), doubles.end());
  int64_t n = int64_t(doubles.size());
  Var d = f.array("doubles", 0, ScalarType::Float64), s = f.array("floats", 1, ScalarType::Float32);
  int next = 2;
  for (ScalarType type : {ScalarType::Int32, ScalarType::Int64})
    for (const Var& from : {d, s}) {
      Var to = f.array("out", next++, type, Access::Write);
      f.loop("k", int64(0), int64(n), [&](Var k) { f.store(to, k, cast(type, load(from, k))); },
             {.kind = LoopKind::Vector});
    }
  std::vector<int32_t> ints[2][2];
  std::vector<int64_t> longs[2][2];
  CallData calls[2];
  for (int w = 0; w < 2; w++) {
    calls[w].array(CallData::view(doubles)), calls[w].array(CallData::view(floats));
    for (auto& to : ints[w]) to.resize(size_t(n)), calls[w].array(CallData::view(to));
    for (auto& to : longs[w]) to.resize(size_t(n)), calls[w].array(CallData::view(to));
  }
  interpret(f.build(), calls[0].get());
  Jit({}).load(f.build())(calls[1].get());
  EXPECT_EQ(ints[0][0],
            (std::vector<int32_t>{0, -2, INT32_MAX, INT32_MIN, 0, INT32_MAX, INT32_MIN, INT32_MAX, INT32_MAX}));
  for (int k = 0; k < 2; k++) {
    EXPECT_EQ(ints[0][k], ints[1][k]);
    EXPECT_EQ(longs[0][k], longs[1][k]);
  }
}

/// Literals of every type come through exactly.
TEST(CompiledKernels, HaveExactLiterals) {
  FunctionBuilder f("literals");
  double inf = std::numeric_limits<double>::infinity();
  std::vector<double> doubles{0.1, -0.0, 1e300, 5e-324, inf, -inf, std::nan(""), 3, -7.25};
  std::vector<float> floats{0.1f, -0.0f, 1e30f, float(inf), 16777217.0f};
  std::vector<int64_t> longs{INT64_MIN, INT64_MAX, -1, 0, 3000000000};
  std::vector<int32_t> ints{INT32_MIN, INT32_MAX, -1};
  auto fill = [&](auto values, int n) {
    using T = typename decltype(values)::value_type;
    Var to = f.array("out", n, scalar_type_of<T>(), Access::Write);
    for (size_t i = 0; i < values.size(); i++) f.store(to, int64_t(i), literal(ir::Scalar::of(values[i])));
    // In an expression too, where C++ reads the types of literals by itself.
    for (size_t i = 0; i < values.size(); i++)
      f.store(to, int64_t(i), select(load(to, 0) < load(to, 0), load(to, 0), literal(ir::Scalar::of(values[i]))));
  };
  fill(doubles, 0), fill(floats, 1), fill(longs, 2), fill(ints, 3);
  std::vector<double> d(doubles.size());
  std::vector<float> s(floats.size());
  std::vector<int64_t> l(longs.size());
  std::vector<int32_t> i(ints.size());
  CallData call;
  call.array(CallData::view(d)), call.array(CallData::view(s)), call.array(CallData::view(l)),
      call.array(CallData::view(i));
  Jit({}).load(f.build())(call.get());
  EXPECT_EQ(std::memcmp(s.data(), floats.data(), s.size() * sizeof(float)), 0);
  EXPECT_EQ(l, longs);
  EXPECT_EQ(i, ints);
  for (size_t k = 0; k < d.size(); k++)
    EXPECT_TRUE((std::isnan(d[k]) && std::isnan(doubles[k])) || std::memcmp(&d[k], &doubles[k], sizeof(double)) == 0)
        << k;
}

}  // namespace
}  // namespace spdistal::codegen
