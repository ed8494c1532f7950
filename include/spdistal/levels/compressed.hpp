// Compressed: the coordinates that occur, in order, each once.
//
//   parent p            0      1   2
//   pos              0      2  2      5         children of p: [pos[p], pos[p+1])
//   crd              1  4         0  2  3
#pragma once
#include <array>
#include <string_view>

#include "spdistal/levels/array.hpp"
#include "spdistal/levels/properties.hpp"

namespace spdistal {
namespace levels {

struct Compressed {
  static constexpr std::string_view name = "Compressed";
  static constexpr char letter = 's';
  static constexpr LevelProperties properties{
      .full = false, .ordered = true, .unique = true, .branchless = false, .placed = false, .fills = false};
  static constexpr std::array<LevelArray, 2> arrays{{{"pos", Holds::Segments}, {"crd", Holds::Coordinates}}};
  bool operator==(const Compressed&) const = default;
};

}  // namespace levels
inline constexpr levels::Compressed Compressed;
}  // namespace spdistal
