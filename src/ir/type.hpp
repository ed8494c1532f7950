// Types of kernel IR: a scalar, a short vector of scalars, or a pointer to scalars (an array).
#pragma once
#include <complex>
#include <cstring>
#include <string>
#include <variant>

#include "base/node.hpp"
#include "spdistal/scalar_type.hpp"

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

/// A value of one of the scalar types, in the order of ScalarType. Equal by bits: NaN is itself, -0 is not 0.
class Scalar {
 public:
  using Value = std::variant<bool, int32_t, int64_t, float, double, std::complex<float>, std::complex<double>>;

  template <class T>
  static Scalar of(T value) {
    Scalar s;
    s.value_ = value;
    return s;
  }
  /// The number `value` as a scalar of this type.
  static Scalar number(ScalarType type, double value);
  static Scalar integer(ScalarType type, int64_t value);

  ScalarType type() const { return ScalarType(value_.index()); }
  const Value& value() const { return value_; }
  template <class T>
  T as() const {
    return std::get<T>(value_);
  }
  /// The whole number, of Bool, Int32 and Int64.
  int64_t integer() const;
  bool is(double number) const;  // equals this number (0 counts for -0 too)

  bool operator==(const Scalar& other) const;
  size_t hash() const;

 private:
  Value value_{int64_t{0}};
};

}  // namespace spdistal::ir

template <>
struct std::hash<spdistal::ir::Scalar> {
  size_t operator()(const spdistal::ir::Scalar& s) const { return s.hash(); }
};
