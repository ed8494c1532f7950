// Dense: every coordinate of the dimension, by position alone.
//
//   parent p            0           1
//   position         0  1  2     3  4  5        = p * extent + coordinate
//   coordinate       0  1  2     0  1  2
#pragma once
#include <array>
#include <string_view>

#include "spdistal/levels/array.hpp"
#include "spdistal/levels/properties.hpp"

namespace spdistal {
namespace levels {

struct Dense {
  static constexpr std::string_view name = "Dense";
  static constexpr char letter = 'd';
  static constexpr LevelProperties properties{
      .full = true, .ordered = true, .unique = true, .branchless = false, .placed = true, .fills = false};
  static constexpr std::array<LevelArray, 0> arrays{};
  bool operator==(const Dense&) const = default;
};

}  // namespace levels
inline constexpr levels::Dense Dense;
}  // namespace spdistal
