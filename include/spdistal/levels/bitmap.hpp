// Bitmap: a place for every coordinate, as in Dense, and a byte that tells which of them are stored.
//
//   parent p            0           1
//   position         0  1  2     3  4  5        = p * extent + coordinate
//   mask             1  0  1     0  0  1        stored: 0 and 2 below 0, 2 below 1
//
// For rows of which a good part is stored, but not all: a coordinate is found in constant time, and nothing is computed
// where none is.
#pragma once
#include <array>
#include <string_view>

#include "spdistal/levels/array.hpp"
#include "spdistal/levels/properties.hpp"

namespace spdistal {
namespace levels {

struct Bitmap {
  static constexpr std::string_view name = "Bitmap";
  static constexpr char letter = 'b';
  static constexpr LevelProperties properties{
      .full = false, .ordered = true, .unique = true, .branchless = false, .placed = true, .fills = false};
  static constexpr std::array<LevelArray, 1> arrays{{{"mask", Holds::Flags}}};
  bool operator==(const Bitmap&) const = default;
};

}  // namespace levels
inline constexpr levels::Bitmap Bitmap;
}  // namespace spdistal
