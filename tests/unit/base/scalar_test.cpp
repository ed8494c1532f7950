#include "spdistal/scalar.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <set>

namespace spdistal {
namespace {

// What C++ makes of a + b, as far as C++ has an answer: complex<float> + double has none.
template <class A, class B>
concept Addable = requires(A a, B b) {
  a + b;
};
template <class T>
constexpr bool is_complex_v = requires(T t) {
  t.real();
};

template <class A, class B>
void compare_with_cpp() {
  ScalarType promoted = promote(scalar_type_of<A>(), scalar_type_of<B>());
  if constexpr (std::is_arithmetic_v<A> && std::is_arithmetic_v<B>) {
    EXPECT_EQ(promoted, scalar_type_of<decltype(A{} + B{})>());
  } else if constexpr (is_complex_v<A> && is_complex_v<B>) {
    using R = decltype(typename A::value_type{} + typename B::value_type{});
    EXPECT_EQ(promoted, scalar_type_of<std::complex<R>>());
  } else if constexpr (is_complex_v<A>) {
    // An integer becomes a number of the complex's own kind; a real widens it.
    using R =
        std::conditional_t<std::is_integral_v<B>, typename A::value_type, decltype(typename A::value_type{} + B{})>;
    EXPECT_EQ(promoted, scalar_type_of<std::complex<R>>());
  } else {
    compare_with_cpp<B, A>();
  }
  EXPECT_EQ(promoted, promote(scalar_type_of<B>(), scalar_type_of<A>()));
}

TEST(ScalarTypes, MixAsCppMixesThem) {
  for (ScalarType a : all_scalar_types)
    for (ScalarType b : all_scalar_types)
      with_type(a, [&](auto x) { with_type(b, [&](auto y) { compare_with_cpp<decltype(x), decltype(y)>(); }); });
}

TEST(ScalarTypes, HaveNamesSizesAndKinds) {
  std::set<std::string_view> names;
  for (ScalarType type : all_scalar_types) {
    names.insert(name_of(type));
    with_type(type, [&](auto zero) {
      using T = decltype(zero);
      EXPECT_EQ(scalar_type_of<T>(), type);
      EXPECT_EQ(size_of(type), sizeof(T));
      EXPECT_EQ(is_complex(type), is_complex_v<T>);
      EXPECT_EQ(is_integral(type), std::is_integral_v<T>);
    });
  }
  EXPECT_EQ(names.size(), std::size(all_scalar_types));
  EXPECT_EQ(name_of(ScalarType::Float32), "float");
  EXPECT_EQ(name_of(ScalarType::Complex128), "complex128");
}

TEST(ScalarTypes, LongAndLongLongAreOneType) {
  EXPECT_EQ(scalar_type_of<long>(), scalar_type_of<int64_t>());
  EXPECT_EQ(scalar_type_of<long long>(), scalar_type_of<int64_t>());
}

TEST(Scalars, KnowTheirType) {
  EXPECT_EQ(Scalar(true).type(), ScalarType::Bool);
  EXPECT_EQ(Scalar(1).type(), ScalarType::Int32);
  EXPECT_EQ(Scalar(1LL).type(), ScalarType::Int64);
  EXPECT_EQ(Scalar(1L).type(), ScalarType::Int64);
  EXPECT_EQ(Scalar(1.f).type(), ScalarType::Float32);
  EXPECT_EQ(Scalar(1.).type(), ScalarType::Float64);
  EXPECT_EQ(Scalar(std::complex<float>(1)).type(), ScalarType::Complex64);
  EXPECT_EQ(Scalar(std::complex<double>(1)).type(), ScalarType::Complex128);
}

TEST(Scalars, AreEqualByTypeAndBits) {
  double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(Scalar(1), Scalar(1));
  EXPECT_NE(Scalar(1), Scalar(1LL));
  EXPECT_NE(Scalar(1), Scalar(true));
  EXPECT_NE(Scalar(0.0), Scalar(-0.0));
  EXPECT_EQ(Scalar(nan), Scalar(-nan));
  EXPECT_EQ(Scalar(std::complex(nan, 1.0)), Scalar(std::complex(-nan, 1.0)));
  EXPECT_NE(Scalar(std::complex(nan, 1.0)), Scalar(std::complex(1.0, nan)));
}

TEST(Scalars, ThatAreEqualHashAlike) {
  double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(Scalar(nan).hash(), Scalar(-nan).hash());
  EXPECT_NE(Scalar(0.0).hash(), Scalar(-0.0).hash());
  EXPECT_NE(Scalar(1).hash(), Scalar(1LL).hash());
}

static_assert(!std::is_constructible_v<Scalar, char>);
static_assert(!std::is_constructible_v<Scalar, short>);
static_assert(!std::is_constructible_v<Scalar, const char*>);

}  // namespace
}  // namespace spdistal
