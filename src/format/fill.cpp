#include "format/fill.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <limits>
#include <utility>

#include "spdistal/error.hpp"

namespace spdistal {
namespace {

// Whole numbers up to here are doubles exactly.
constexpr double exactly_whole = 9007199254740992.0;

template <class T>
std::optional<T> whole_number(double value) {
  if (std::isinf(value)) return value > 0 ? std::numeric_limits<T>::max() : std::numeric_limits<T>::lowest();
  bool whole = value == std::trunc(value) && std::abs(value) <= exactly_whole;
  return whole && std::in_range<T>(int64_t(value)) ? std::optional(T(value)) : std::nullopt;
}

// A fill value is kept as an int64, a double or a complex<double>.
std::optional<Scalar> as_type(const Scalar& fill, ScalarType type) {
  return with_type(type, [&](auto zero) -> std::optional<Scalar> {
    using T = decltype(zero);
    if (auto* whole = std::get_if<int64_t>(&static_cast<const ScalarVariant&>(fill))) {
      if constexpr (std::is_same_v<T, bool>) return Scalar(*whole != 0);
      else if constexpr (std::is_integral_v<T>)
        return std::in_range<T>(*whole) ? std::optional(Scalar(T(*whole))) : std::nullopt;
      else if constexpr (std::is_floating_point_v<T>) return Scalar(T(*whole));
      else return Scalar(T(typename T::value_type(*whole)));
    }
    if (auto* real = std::get_if<double>(&static_cast<const ScalarVariant&>(fill))) {
      if constexpr (std::is_same_v<T, bool>) return Scalar(*real != 0);
      else if constexpr (std::is_integral_v<T>) {
        std::optional<T> whole = whole_number<T>(*real);
        return whole ? std::optional(Scalar(*whole)) : std::nullopt;
      } else if constexpr (std::is_floating_point_v<T>) return Scalar(T(*real));
      else return Scalar(T(typename T::value_type(*real)));
    }
    auto complex = std::get<std::complex<double>>(static_cast<const ScalarVariant&>(fill));
    if constexpr (std::is_arithmetic_v<T>) return std::nullopt;
    else return Scalar(T(typename T::value_type(complex.real()), typename T::value_type(complex.imag())));
  });
}

template <class T>
std::optional<T> read(std::string_view text) {
  T value{};
  auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc{} && stop == text.data() + text.size() ? std::optional(value) : std::nullopt;
}

}  // namespace

bool fills_with_zero(const Format& format) { return !format.fill(); }

Format filled_like(const Format& format, const Format& other) {
  return other.fill() ? format.filled(*other.fill()) : format;
}

Format of_one_piece(const Format& format) { return filled_like(Format(format.levels(), format.mode_order()), format); }

Scalar fill_value(const Format& format, ScalarType type) {
  if (!format.fill()) return with_type(type, [](auto zero) -> Scalar { return zero; });
  std::optional<Scalar> value = as_type(*format.fill(), type);
  if (!value)
    throw UserError(fmt::format("{} has no value {}, which elements that are not stored should count as", name_of(type),
                                print_fill(*format.fill())),
                    is_integral(type)
                        ? "whole numbers are filled with whole numbers; inf is the largest, -inf the least"
                        : "give a real number, or make the tensor complex");
  return *value;
}

std::string print_fill(const Scalar& value) {
  return std::visit(
      [](auto v) -> std::string {
        if constexpr (requires { v.real(); }) return fmt::format("{},{}", v.real(), v.imag());
        else return fmt::format("{}", v);
      },
      static_cast<const ScalarVariant&>(value));
}

std::optional<Scalar> parse_fill(std::string_view text) {
  if (text == "true" || text == "false") return Scalar(int64_t(text == "true"));
  if (size_t comma = text.find(','); comma != std::string_view::npos) {
    auto real = read<double>(text.substr(0, comma)), imaginary = read<double>(text.substr(comma + 1));
    return real && imaginary ? std::optional(Scalar(std::complex(*real, *imaginary))) : std::nullopt;
  }
  if (auto whole = read<int64_t>(text)) return Scalar(*whole);
  auto real = read<double>(text);
  return real ? std::optional(Scalar(*real)) : std::nullopt;
}

}  // namespace spdistal
