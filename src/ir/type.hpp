// Types of kernel IR: a scalar, a short vector of scalars, or a pointer to scalars (an array).
#pragma once
#include <string>

#include "base/node.hpp"
#include "spdistal/scalar.hpp"

namespace spdistal::ir {

struct Type {
  enum class Form : uint8_t { Value, Array, ConstArray };

  ScalarType scalar = ScalarType::Int64;
  Form form = Form::Value;
  int lanes = 1;  // of a value; more than one: a short vector, computed with lane by lane

  bool is_array() const { return form != Form::Value; }
  bool is_scalar() const { return form == Form::Value && lanes == 1; }
  /// The type of one element of an array.
  Type element() const { return {scalar}; }

  static constexpr auto fields = std::tuple{&Type::scalar, &Type::form, &Type::lanes};
  bool operator==(const Type&) const = default;
};

inline Type value_of(ScalarType scalar) { return {scalar}; }
inline Type array_of(ScalarType scalar) { return {scalar, Type::Form::Array}; }
inline Type const_array_of(ScalarType scalar) { return {scalar, Type::Form::ConstArray}; }

inline constexpr Type Bool{ScalarType::Bool}, Int32{ScalarType::Int32}, Int64{ScalarType::Int64};
inline constexpr Type Float32{ScalarType::Float32}, Float64{ScalarType::Float64};
inline constexpr Type Complex64{ScalarType::Complex64}, Complex128{ScalarType::Complex128};

/// "int32", "double[]", "const double[]", "double x 8".
std::string name_of(const Type& type);

/// A scalar literal of kernel IR: a typed number with the questions that folding asks.
class Scalar : public spdistal::Scalar {
 public:
  using spdistal::Scalar::Scalar;
  Scalar(const spdistal::Scalar& value) : spdistal::Scalar(value) {}

  template <class T>
  static Scalar of(T value) {
    return Scalar(value);
  }
  /// The number `value` as a scalar of this type.
  static Scalar number(ScalarType type, double value);
  static Scalar integer(ScalarType type, int64_t value);

  const ScalarVariant& value() const { return *this; }
  template <class T>
  T as() const {
    return std::get<T>(value());
  }
  /// The whole number, of Bool, Int32 and Int64.
  int64_t integer() const;
  bool is(double number) const;  // equals this number (0 counts for -0 too)
};

}  // namespace spdistal::ir

template <>
struct std::hash<spdistal::ir::Scalar> : std::hash<spdistal::Scalar> {};
