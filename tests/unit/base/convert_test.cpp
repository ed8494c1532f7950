// Numbers of one type as numbers of another.
#include "base/convert.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace spdistal {
namespace {

template <class To, class From>
void expect_nearest() {
  const From infinity = std::numeric_limits<From>::infinity();
  const From bound = std::ldexp(From(1), sizeof(To) * 8 - 1);
  constexpr To largest = std::numeric_limits<To>::max(), least = std::numeric_limits<To>::min();
  EXPECT_EQ(convert_value<To>(infinity), largest);
  EXPECT_EQ(convert_value<To>(-infinity), least);
  EXPECT_EQ(convert_value<To>(bound), largest);
  EXPECT_EQ(convert_value<To>(-bound), least);
  EXPECT_EQ(convert_value<To>(std::nextafter(-bound, -infinity)), least);
  EXPECT_EQ(convert_value<To>(std::numeric_limits<From>::max()), largest);
  EXPECT_EQ(convert_value<To>(std::numeric_limits<From>::quiet_NaN()), 0);
  EXPECT_EQ(convert_value<To>(From(-2.75)), -2);
  EXPECT_EQ(convert_value<To>(From(2.75)), 2);
  From below = std::nextafter(bound, From(0));
  EXPECT_EQ(convert_value<To>(below), To(std::trunc(below)));
}

TEST(Conversions, FloatsBecomeTheNearestIntegerWhereTheyAreNone) {
  expect_nearest<int32_t, float>();
  expect_nearest<int32_t, double>();
  expect_nearest<int64_t, float>();
  expect_nearest<int64_t, double>();
}

TEST(Conversions, TruthValuesTellWhetherANumberIsZero) {
  EXPECT_TRUE(convert_value<bool>(std::complex<double>(0, 1)));
  EXPECT_FALSE(convert_value<bool>(std::complex<double>(0, 0)));
  EXPECT_TRUE(convert_value<bool>(0.25));
  EXPECT_FALSE(convert_value<bool>(-0.0));
}

TEST(Conversions, ComplexNumbersGiveTheirRealParts) {
  EXPECT_EQ(convert_value<int32_t>(std::complex<float>(3.5f, 1)), 3);
  EXPECT_EQ(convert_value<std::complex<float>>(int64_t(7)), std::complex<float>(7));
}

}  // namespace
}  // namespace spdistal
