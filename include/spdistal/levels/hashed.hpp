// Hashed: the coordinates that occur, each once and in any order, with a table that tells where each of them is.
//
//   parent p            0      1   2
//   pos              0      2  2      5         children of p: [pos[p], pos[p+1])
//   crd              4  1         3  0  2
//   table            -  0  1  -   3  -  4  2  -  -    of p: the places [2 pos[p], 2 pos[p+1])
//
// Of a parent with n children, coordinate c is looked for from place c % (2n - 1) of its table on, around the end if need
// be, to a place that is free: half of them are.
#pragma once
#include <array>
#include <string_view>

#include "spdistal/levels/array.hpp"
#include "spdistal/levels/properties.hpp"

namespace spdistal {
namespace levels {

struct Hashed {
  static constexpr std::string_view name = "Hashed";
  static constexpr char letter = 'h';
  static constexpr LevelProperties properties{
      .full = false, .ordered = false, .unique = true, .branchless = false, .placed = false, .fills = false};
  static constexpr std::array<LevelArray, 3> arrays{
      {{"pos", Holds::Segments}, {"crd", Holds::Coordinates}, {"table", Holds::Positions}}};
  bool operator==(const Hashed&) const = default;
};

}  // namespace levels
inline constexpr levels::Hashed Hashed;
}  // namespace spdistal
