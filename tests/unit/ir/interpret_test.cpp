#include "ir/interpret.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/require.hpp"
#include "ir/build.hpp"
#include "ir/verify.hpp"
#include "unit/ir/call_data.hpp"

namespace spdistal::ir {
namespace {

using testing::CallData;
using ::testing::HasSubstr;

/// Computes one expression, which may use array `in` = {10, 20, 30} of int32.
template <class T>
T value(const std::function<Expr(const Var& in)>& make) {
  FunctionBuilder f("f");
  Var in = f.array("in", 0, ScalarType::Int32);
  Var out = f.array("out", 1, scalar_type_of<T>(), Access::Write);
  f.store(out, 0, make(in));
  EXPECT_TRUE(verify(f.build()));
  std::vector<int32_t> input{10, 20, 30};
  T output[1] = {};
  CallData call;
  call.array(CallData::view(input));
  call.array({output, 1, nullptr});
  interpret(f.build(), call.get());
  return output[0];
}

TEST(Interpret, ShrinksResultsAndKeepsWhatComesFirst) {
  FunctionBuilder f("f");
  Var out = f.array("out", 0, ScalarType::Int32, Access::Write), kept = f.scalar("kept", 0);
  f.resize(out, 4);
  f.loop("i", int64(0), 4, [&](const Var& i) { f.store(out, i, cast(ScalarType::Int32, Expr(i) * 10)); });
  f.shrink(out, kept);
  EXPECT_TRUE(verify(f.build()));
  auto run = [&](int64_t count) {
    CallData call;
    call.array(call.growing());
    call.scalar(count);
    interpret(f.build(), call.get());
    return CallData::contents<int32_t>(call.get().arrays[0]);
  };
  EXPECT_EQ(run(2), (std::vector<int32_t>{0, 10}));
  EXPECT_EQ(run(0), std::vector<int32_t>{});
  EXPECT_THROW(run(5), InternalError);
}

TEST(Interpret, ReadsArraysAndComputes) {
  EXPECT_EQ(value<int32_t>([](const Var& in) { return load(in, 1) + load(in, 2) * 2; }), 80);
  EXPECT_EQ(value<double>([](const Var& in) { return load(in, 1) / 4.0; }), 5.0);
  EXPECT_EQ(value<bool>([](const Var& in) { return load(in, 0) < load(in, 1) && load(in, 2) > 29; }), true);
  EXPECT_EQ(value<std::complex<double>>([](const Var& in) {
              Expr i = literal(Scalar::of(std::complex<double>(0, 1)));
              return i * i * load(in, 0);
            }),
            std::complex<double>(-10, 0));
  EXPECT_EQ(value<double>([](const Var&) { return call(Math::Sqrt, {literal(Scalar::of(2.25))}); }), 1.5);
  EXPECT_EQ(
      value<double>([](const Var&) { return call(Math::Abs, {literal(Scalar::of(std::complex<double>(3, 4)))}); }), 5);
}

TEST(Interpret, SearchesForTheFirstNotLessAndTheFirstGreater) {
  for (auto [sought, lower, upper] : {std::tuple{5, 0, 0}, {10, 0, 1}, {15, 1, 1}, {30, 2, 3}, {31, 3, 3}}) {
    EXPECT_EQ(value<int64_t>([sought = sought](const Var& in) { return lower_bound(in, 0, 3, sought); }), lower);
    EXPECT_EQ(value<int64_t>([sought = sought](const Var& in) { return upper_bound(in, 0, 3, sought); }), upper);
  }
  EXPECT_EQ(value<int64_t>([&](const Var& in) { return lower_bound(in, 2, 2, 0); }), 2);
}

TEST(Interpret, EvaluatesOnlyWhatItNeeds) {
  EXPECT_EQ(value<int32_t>([](const Var& in) { return select(load(in, 0) < 0, load(in, 99), load(in, 0)); }), 10);
  EXPECT_EQ(value<bool>([](const Var& in) { return load(in, 0) < 0 && load(in, 99) > 0; }), false);
  EXPECT_EQ(value<bool>([](const Var& in) { return load(in, 0) > 0 || load(in, 99) > 0; }), true);
}

std::string failure(const std::function<void(FunctionBuilder&, Var in, Var out)>& fill) {
  FunctionBuilder f("f");
  Var in = f.array("in", 0, ScalarType::Int32), out = f.array("out", 1, ScalarType::Int32, Access::Write);
  fill(f, in, out);
  std::vector<int32_t> input{1, 2, 3}, output(3);
  CallData call;
  call.array(CallData::view(input));
  call.array(CallData::view(output));
  try {
    interpret(f.build(), call.get());
  } catch (const InternalError& e) { return e.what(); }
  return "";
}

TEST(Interpret, NamesArrayAndIndexOfAnAccessOutOfBounds) {
  EXPECT_THAT(failure([](auto& f, Var in, Var out) { f.store(out, 0, load(in, 3)); }),
              HasSubstr("element 3 of array 'in', which has 3"));
  EXPECT_THAT(failure([](auto& f, Var in, Var out) { f.store(out, 0, load(in, -1)); }),
              HasSubstr("element -1 of array 'in'"));
  EXPECT_THAT(failure([](auto& f, Var, Var out) { f.store(out, 3, 1); }), HasSubstr("element 3 of array 'out'"));
  EXPECT_THAT(failure([](auto& f, Var, Var out) { f.sort(out, 1, 4); }), HasSubstr("element 3 of array 'out'"));
  EXPECT_THAT(failure([](auto& f, Var in, Var out) { f.store(out, 0, lower_bound(in, 0, 4, 9)); }), HasSubstr("'in'"));
  EXPECT_THAT(failure([](auto& f, Var, Var) {
                Var w = f.allocate("w", ScalarType::Float64, 5, Fill::Zeroed);
                f.store(w, 5, 1);
              }),
              HasSubstr("element 5 of array 'w', which has 5"));
  EXPECT_EQ(failure([](auto& f, Var in, Var) { f.prefetch(in, 1000); }), "") << "a hint may point anywhere";
}

TEST(Interpret, RefusesToDivideIntegersByZero) {
  EXPECT_THAT(failure([](auto& f, Var in, Var out) { f.store(out, 0, load(in, 0) / (load(in, 0) - 1)); }),
              HasSubstr("divided by zero"));
}

TEST(Interpret, LoopsBreakAndCount) {
  FunctionBuilder f("f");
  Var out = f.array("out", 0, ScalarType::Int32, Access::Write);
  f.loop("i", int32(0), int32(10),
         [&](Var i) {
           f.when(i > 5, [&] { f.stop(); });
           f.store_add(out, 0, 1);
         },
         {.step = int32(2)});
  Var turn = f.variable("turn", int32(3));
  f.loop_while(turn > 0, [&] {
    f.increase(turn, -1);
    f.store_add(out, 1, turn);
  });
  f.parallel("t", int64(4), [&](Var t) { f.atomic_add(out, 2, t); });
  std::vector<int32_t> output(3);
  CallData call;
  call.array(CallData::view(output));
  ASSERT_TRUE(verify(f.build()));
  interpret(f.build(), call.get());
  EXPECT_THAT(output, ::testing::ElementsAre(3, 3, 6));
}

TEST(Interpret, WhatReturnsACodeIsRunInAnotherWay) {
  auto storing = [](int32_t value) {
    FunctionBuilder f("f");
    Var out = f.array("out", 0, ScalarType::Int32, Access::Write);
    if (value == 1) f.when(load(out, 1) > 5, [&] { f.leave(7); });
    f.store(out, 0, int32(value));
    return f.build();
  };
  Function f = storing(1);
  f.instead = [&] { return storing(2); };
  for (auto [given, code, stored] : {std::tuple{5, 0, 1}, {6, 7, 2}}) {
    std::vector<int32_t> output{0, given};
    CallData call;
    call.array(CallData::view(output));
    EXPECT_EQ(Interpreter(f)(call.get()), code);
    EXPECT_EQ(output[0], code == 0 ? 1 : 0);
    interpret(f, call.get());
    EXPECT_EQ(output[0], stored);
  }
}

TEST(Interpret, VectorsAreComputedLaneByLane) {
  FunctionBuilder f("f");
  Var out = f.array("out", 0, ScalarType::Float64, Access::Write);
  Var v = f.variable("v", load(out, 0, 4) * 2.0);
  f.assign(v, v + load(out, 1, 4));
  f.add(Store{StoreMode::Set, out, int32(1), v});
  f.add(Store{StoreMode::Add, out, int32(0), broadcast(one(Float64), 4)});
  std::vector<double> output{1, 2, 3, 4, 5};
  CallData call;
  call.array(CallData::view(output));
  ASSERT_TRUE(verify(f.build()));
  interpret(f.build(), call.get());
  EXPECT_THAT(output, ::testing::ElementsAre(2, 5, 8, 11, 13));
}

TEST(Interpret, FindsRacesOfThreads) {
  auto race = [](const std::function<void(FunctionBuilder&, Var in, Var out, Var t)>& fill) {
    FunctionBuilder f("f");
    Var in = f.array("in", 0, ScalarType::Int32), out = f.array("out", 1, ScalarType::Int32, Access::Write);
    f.parallel("t", 3, [&](Var t) { fill(f, in, out, t); });
    f.store(out, 0, load(out, 2));
    EXPECT_TRUE(verify(f.build()));
    std::vector<int32_t> input{1, 2, 3}, output(3);
    CallData call;
    call.array(CallData::view(input));
    call.array(CallData::view(output));
    interpret(f.build(), call.get());
    try {
      interpret(f.build(), call.get(), Races::Found);
    } catch (const InternalError& e) { return std::string(e.what()); }
    return std::string();
  };
  EXPECT_EQ(race([](auto& f, Var in, Var out, Var t) { f.store(out, t, load(in, 0)); }), "");
  EXPECT_EQ(race([](auto& f, Var, Var out, Var t) { f.atomic_add(out, 0, t); }), "");
  EXPECT_EQ(race([](auto& f, Var, Var out, Var t) { f.store_add(out, t, load(out, t)); }), "");
  EXPECT_EQ(race([](auto& f, Var, Var, Var t) {
              Var own = f.allocate("own", ScalarType::Int32, 1, Fill::Zeroed);
              f.store(own, 0, t);
            }),
            "");
  auto races = HasSubstr("race for element 0 of array 'out'");
  EXPECT_THAT(race([](auto& f, Var, Var out, Var t) { f.store(out, 0, t); }), races);
  EXPECT_THAT(race([](auto& f, Var, Var out, Var t) { f.store(out, t, load(out, 0)); }), races);
  EXPECT_THAT(race([](auto& f, Var, Var out, Var t) { f.store(out, 2 - t, load(out, max(1 - t, 0))); }),
              HasSubstr("race for"));
  EXPECT_THAT(race([](auto& f, Var, Var out, Var t) {
                f.when(
                    t < 1, [&] { f.atomic_add(out, 0, 1); }, [&] { f.store_add(out, 0, 1); });
              }),
              races);
}

TEST(Interpret, NumbersMustFitTheWidthTheyAreUnpackedTo) {
  FunctionBuilder f("f");
  f.scalar("n", 0, ScalarType::Int32);
  CallData call;
  call.scalar(int64_t{1} << 40);
  EXPECT_THROW(interpret(f.build(), call.get()), InternalError);
}

}  // namespace
}  // namespace spdistal::ir
