#include "format/registry.hpp"

#include <fmt/format.h>

#include "base/text.hpp"

namespace spdistal {
namespace {

template <class... L>
std::vector<LevelFormat> list(const std::variant<L...>*) {
  return {LevelFormat(L{})...};
}

}  // namespace

std::vector<LevelFormat> all_levels() { return list(static_cast<const LevelVariant*>(nullptr)); }

std::optional<LevelFormat> level_of_letter(char letter) {
  for (const LevelFormat& level : all_levels())
    if (level.letter() == letter) return level;
  return std::nullopt;
}

std::string describe_levels() {
  std::vector<std::string> out;
  for (const LevelFormat& level : all_levels()) out.push_back(fmt::format("{} ({})", level.letter(), level.name()));
  return enumerate(out);
}

}  // namespace spdistal
