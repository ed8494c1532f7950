#include "spdistal/scalar.hpp"

#include <cmath>
#include <functional>
#include <limits>
#include <string_view>

namespace spdistal {
namespace {

std::string_view bytes(const Scalar& s) {
  return std::visit(
      [](const auto& value) { return std::string_view(reinterpret_cast<const char*>(&value), sizeof value); },
      static_cast<const ScalarVariant&>(s));
}

// A value with every NaN made the same.
Scalar canonical(const Scalar& s) {
  return std::visit(
      [](auto v) -> Scalar {
        using T = decltype(v);
        if constexpr (std::is_floating_point_v<T>) return std::isnan(v) ? std::numeric_limits<T>::quiet_NaN() : v;
        else if constexpr (requires { v.real(); }) {
          using R = decltype(v.real());
          R nan = std::numeric_limits<R>::quiet_NaN();
          return T(std::isnan(v.real()) ? nan : v.real(), std::isnan(v.imag()) ? nan : v.imag());
        } else return v;
      },
      static_cast<const ScalarVariant&>(s));
}

}  // namespace

bool Scalar::operator==(const Scalar& other) const {
  return index() == other.index() && bytes(canonical(*this)) == bytes(canonical(other));
}

size_t Scalar::hash() const { return std::hash<std::string_view>{}(bytes(canonical(*this))) * 31 + index(); }

}  // namespace spdistal
