// Singleton: one coordinate for each position above, at the same position.
//
//   parent p         0  1  2  3
//   crd              1  3  0  1
#pragma once
#include <array>
#include <string_view>

#include "spdistal/levels/array.hpp"
#include "spdistal/levels/properties.hpp"

namespace spdistal {
namespace levels {

struct Singleton {
  static constexpr std::string_view name = "Singleton";
  static constexpr char letter = 'q';
  static constexpr LevelProperties properties{
      .full = false, .ordered = true, .unique = true, .branchless = true, .placed = false, .fills = false};
  static constexpr std::array<LevelArray, 1> arrays{{{"crd", Holds::Coordinates}}};
  bool operator==(const Singleton&) const = default;
};

}  // namespace levels
inline constexpr levels::Singleton Singleton;
}  // namespace spdistal
