#include "ir/type.hpp"

#include <fmt/format.h>

#include "base/require.hpp"

namespace spdistal::ir {

std::string name_of(const Type& type) {
  std::string_view scalar = spdistal::name_of(type.scalar);
  if (type.form == Type::Form::Array) return fmt::format("{}[]", scalar);
  if (type.form == Type::Form::ConstArray) return fmt::format("const {}[]", scalar);
  return type.lanes == 1 ? std::string(scalar) : fmt::format("{} x {}", scalar, type.lanes);
}

Scalar Scalar::number(ScalarType type, double value) {
  return with_type(type, [&](auto zero) { return Scalar::of(static_cast<decltype(zero)>(value)); });
}

Scalar Scalar::integer(ScalarType type, int64_t value) {
  return with_type(type, [&](auto zero) {
    using T = decltype(zero);
    if constexpr (std::is_arithmetic_v<T>) return Scalar::of(static_cast<T>(value));
    else return Scalar::of(T(static_cast<typename T::value_type>(value)));
  });
}

int64_t Scalar::integer() const {
  require(is_integral(type()), "a whole number is asked of a whole number");
  return std::visit(
      [](auto v) -> int64_t {
        if constexpr (std::is_arithmetic_v<decltype(v)>) return int64_t(v);
        else return 0;
      },
      value());
}

bool Scalar::is(double number) const {
  return std::visit(
      [&](auto v) {
        if constexpr (std::is_same_v<decltype(v), bool>) return double(v) == number;
        else return v == decltype(v)(number);
      },
      value());
}

}  // namespace spdistal::ir
