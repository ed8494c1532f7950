// What is asked of level formats where nobody looks at their arrays. What is done with these is in src/level.
#pragma once
#include <cstddef>

#include "spdistal/format.hpp"

namespace spdistal {

/// Does a level store every coordinate, below every position above?
bool stores_all(const LevelFormat& level);
/// Are positions of a level counted by places, one for every coordinate below every position above, stored or not?
bool counts_places(const LevelFormat& level);
/// Does level k store one coordinate for each position above: does it go on with the tuples that a level above begins?
bool continues_tuples(const Format& format, size_t k);
/// Do the coordinates of a level rise below each position above?
bool is_ordered(const LevelFormat& level);
/// Does a level store what lies between the coordinates that occur?
bool fills_between(const LevelFormat& level);
/// A level that lists the coordinates which occur, in order, and nothing else: what temporaries are made of.
LevelFormat listing_level();

}  // namespace spdistal
