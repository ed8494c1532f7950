// What a level format promises about the coordinates it stores (Chou, Kjolstad and Amarasinghe, 2018).
#pragma once

namespace spdistal {

struct LevelProperties {
  bool full;        // stores every coordinate of its dimension
  bool ordered;     // the coordinates below one parent rise
  bool unique;      // no coordinate stands twice below one parent
  bool branchless;  // exactly one coordinate below each parent
  bool placed;      // every coordinate has a place below every parent, whether it is stored or not
  bool fills;       // stores what lies between the coordinates that occur

  bool operator==(const LevelProperties&) const = default;
};

}  // namespace spdistal
