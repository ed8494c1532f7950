#include "format/questions.hpp"

namespace spdistal {

bool stores_all(const LevelFormat& level) { return level.properties().full; }

bool counts_places(const LevelFormat& level) { return level.properties().placed; }

bool continues_tuples(const Format& format, size_t k) {
  return k < format.order() && format.levels()[k].properties().branchless;
}

bool is_ordered(const LevelFormat& level) { return level.properties().ordered; }

bool fills_between(const LevelFormat& level) { return level.properties().fills; }

LevelFormat listing_level() { return Compressed; }

}  // namespace spdistal
