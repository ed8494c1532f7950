// Banded: consecutive coordinates below each parent, from the first that occurs there to the last.
//
//   parent p            0         1   2
//   pos              0         3  3      5      children of p: [pos[p], pos[p+1])
//   lo               1         0   2
//   coordinate       1  2  3         2  3       = lo[p] + position - pos[p]
//
// For bands, skylines and rows of different lengths: what lies between coordinates that occur is stored as zeros, and no
// coordinate is.
#pragma once
#include <array>
#include <string_view>

#include "spdistal/levels/array.hpp"
#include "spdistal/levels/properties.hpp"

namespace spdistal {
namespace levels {

struct Banded {
  static constexpr std::string_view name = "Banded";
  static constexpr char letter = 'r';
  static constexpr LevelProperties properties{
      .full = false, .ordered = true, .unique = true, .branchless = false, .placed = false, .fills = true};
  static constexpr std::array<LevelArray, 2> arrays{{{"pos", Holds::Segments}, {"lo", Holds::Bounds}}};
  bool operator==(const Banded&) const = default;
};

}  // namespace levels
inline constexpr levels::Banded Banded;
}  // namespace spdistal
