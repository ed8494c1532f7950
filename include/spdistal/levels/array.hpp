// An array of a level, as the level names it. Storage, files, views and kernels carry the arrays of a level in its own
// order and by its own names, and know nothing of what they are for but what is said here.
#pragma once
#include <cstdint>
#include <string_view>

namespace spdistal {

/// What the elements of an array are: how wide they have to be, and what whoever walks a level may rely on.
enum class Holds : uint8_t {
  Segments,     // where the positions below each parent begin, and behind the last where they end: ascending
  Positions,    // positions of the level, in any order
  Coordinates,  // the coordinate of each position
  Bounds,       // a coordinate for each parent
  Flags,        // true or false, a byte for each position
};

struct LevelArray {
  std::string_view name;
  Holds holds;
};

}  // namespace spdistal
