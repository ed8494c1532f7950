// The element types of tensors, and how they mix: as in C++.
#pragma once
#include <complex>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>

namespace spdistal {

enum class ScalarType : uint8_t { Bool, Int32, Int64, Float32, Float64, Complex64, Complex128 };

inline constexpr ScalarType all_scalar_types[] = {ScalarType::Bool,      ScalarType::Int32,   ScalarType::Int64,
                                                  ScalarType::Float32,   ScalarType::Float64, ScalarType::Complex64,
                                                  ScalarType::Complex128};

/// "bool", "int32", "int64", "float", "double", "complex64", "complex128": the names of the command line.
std::string_view name_of(ScalarType type);
size_t size_of(ScalarType type);
bool is_complex(ScalarType type);
bool is_integral(ScalarType type);  // Bool included

/// The type of a sum or product of the two: bool counts as int32, integers turn into floats, reals into complex.
ScalarType promote(ScalarType a, ScalarType b);

template <class T>
consteval ScalarType scalar_type_of() {
  if constexpr (std::is_same_v<T, bool>) return ScalarType::Bool;
  else if constexpr (std::is_same_v<T, float>) return ScalarType::Float32;
  else if constexpr (std::is_same_v<T, double>) return ScalarType::Float64;
  else if constexpr (std::is_same_v<T, std::complex<float>>) return ScalarType::Complex64;
  else if constexpr (std::is_same_v<T, std::complex<double>>) return ScalarType::Complex128;
  else if constexpr (std::is_integral_v<T> && std::is_signed_v<T> && sizeof(T) == 4) return ScalarType::Int32;
  else if constexpr (std::is_integral_v<T> && std::is_signed_v<T> && sizeof(T) == 8) return ScalarType::Int64;
  else static_assert(!sizeof(T), "no element type of spdistal: bool, int32, int64, float, double or std::complex");
}

/// Calls f with a value of the C++ type that `type` names: `with_type(t, [&](auto zero) { using T = decltype(zero); …
/// })`.
template <class F>
decltype(auto) with_type(ScalarType type, F&& f) {
  switch (type) {
    case ScalarType::Bool: return f(bool{});
    case ScalarType::Int32: return f(int32_t{});
    case ScalarType::Int64: return f(int64_t{});
    case ScalarType::Float32: return f(float{});
    case ScalarType::Float64: return f(double{});
    case ScalarType::Complex64: return f(std::complex<float>{});
    default: return f(std::complex<double>{});
  }
}

}  // namespace spdistal
