// The level formats by letter, from the registry in spdistal/levels.hpp.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "spdistal/format.hpp"

namespace spdistal {

std::vector<LevelFormat> all_levels();
std::optional<LevelFormat> level_of_letter(char letter);
/// "d (Dense), s (Compressed), …", for errors and help.
std::string describe_levels();

}  // namespace spdistal
