// Compressed, non-unique: as Compressed, but a coordinate stands once for every entry below it. The first level of
// coordinate lists (COO); the Singleton levels after it tell equal coordinates apart.
//
//   pos              0              4
//   crd              0  0  2  2
//   Singleton below  1  3  0  1
#pragma once
#include <array>
#include <string_view>

#include "spdistal/levels/array.hpp"
#include "spdistal/levels/properties.hpp"

namespace spdistal {
namespace levels {

struct CompressedNonUnique {
  static constexpr std::string_view name = "CompressedNonUnique";
  static constexpr char letter = 'u';
  static constexpr LevelProperties properties{
      .full = false, .ordered = true, .unique = false, .branchless = false, .placed = false, .fills = false};
  static constexpr std::array<LevelArray, 2> arrays{{{"pos", Holds::Segments}, {"crd", Holds::Coordinates}}};
  bool operator==(const CompressedNonUnique&) const = default;
};

}  // namespace levels
inline constexpr levels::CompressedNonUnique CompressedNonUnique;
}  // namespace spdistal
