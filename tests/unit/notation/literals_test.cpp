#include <gtest/gtest.h>

#include <cstring>
#include <limits>
#include <random>

#include "notation/parse.hpp"
#include "notation/print.hpp"

namespace spdistal::notation {
namespace {

Scalar reread(const Scalar& value) {
  ParseScope scope;
  std::string text = print(value);
  Lexer in(text, "number");
  Expr expr = parse_expression(in, scope);
  in.expect_end();
  if (!expr.is<Literal>()) throw std::runtime_error(text + " is no literal");
  return expr.as<Literal>()->value;
}

template <class T>
std::vector<T> interesting() {
  using L = std::numeric_limits<T>;
  if constexpr (std::is_same_v<T, bool>) return {false, true};
  else if constexpr (std::is_integral_v<T>) {
    std::vector<T> out{0, 1, -1, 42, L::max(), L::min(), L::max() - 1, L::min() + 1};
    if (sizeof(T) == 8)
      for (int64_t edge : {int64_t(INT32_MAX), int64_t(INT32_MIN)})
        for (int64_t step : {-1, 0, 1}) out.push_back(T(edge + step));
    return out;
  } else {
    return {T(0),          T(-0.0),        T(1),           T(-1),       T(0.1),       T(-2.5),         T(1e30),
            T(1e-30),      L::max(),       L::lowest(),    L::min(),    L::epsilon(), L::denorm_min(), T(1) / T(3),
            L::infinity(), -L::infinity(), L::quiet_NaN(), T(16777217), T(123456789)};
  }
}

TEST(Literals, OfEveryTypeReadBackAsTheyArePrinted) {
  for (ScalarType type : all_scalar_types)
    with_type(type, [&](auto zero) {
      using T = decltype(zero);
      if constexpr (requires { zero.real(); }) {
        for (auto re : interesting<typename T::value_type>())
          for (auto im : interesting<typename T::value_type>())
            EXPECT_EQ(reread(T(re, im)), Scalar(T(re, im))) << print(Scalar(T(re, im)));
      } else {
        for (T value : interesting<T>()) EXPECT_EQ(reread(value), Scalar(value)) << print(Scalar(value));
      }
    });
}

TEST(Literals, WithRandomBitsReadBackAsTheyArePrinted) {
  std::mt19937_64 random(7);
  for (int round = 0; round < 20000; round++) {
    uint64_t bits = random();
    double d;
    float f;
    auto half = uint32_t(bits);
    std::memcpy(&d, &bits, sizeof d);
    std::memcpy(&f, &half, sizeof f);
    EXPECT_EQ(reread(d), Scalar(d)) << print(Scalar(d));
    EXPECT_EQ(reread(f), Scalar(f)) << print(Scalar(f));
    EXPECT_EQ(reread(int64_t(bits)), Scalar(int64_t(bits)));
    EXPECT_EQ(reread(int32_t(bits)), Scalar(int32_t(bits)));
  }
}

TEST(Literals, PrintAsPeopleWriteThem) {
  EXPECT_EQ(print(Scalar(true)), "true");
  EXPECT_EQ(print(Scalar(2)), "2");
  EXPECT_EQ(print(Scalar(2LL)), "2L");
  EXPECT_EQ(print(Scalar(3000000000LL)), "3000000000");
  EXPECT_EQ(print(Scalar(2.0)), "2.0");
  EXPECT_EQ(print(Scalar(2.0f)), "2.0f");
  EXPECT_EQ(print(Scalar(-0.0)), "-0.0");
  EXPECT_EQ(print(Scalar(0.1f)), "0.1f");
  EXPECT_EQ(print(Scalar(std::complex(1.0, -2.5))), "complex(1.0, -2.5)");
  EXPECT_EQ(print(Scalar(std::numeric_limits<float>::infinity())), "inff");
}

}  // namespace
}  // namespace spdistal::notation
