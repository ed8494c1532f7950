// Small text helpers that printers, parsers and errors share.
#pragma once
#include <concepts>
#include <optional>
#include <ranges>
#include <string>
#include <string_view>
#include <vector>

namespace spdistal {

/// "a, b, c": the items of a range, each shown by `show`.
template <std::ranges::input_range R, class F>
std::string join(R&& items, std::string_view separator, F&& show) {
  std::string out;
  bool first = true;
  for (auto&& item : items) {
    if (!first) out += separator;
    first = false;
    out += show(item);
  }
  return out;
}
template <std::ranges::input_range R>
std::string join(R&& items, std::string_view separator) {
  return join(std::forward<R>(items), separator, [](const auto& item) { return std::string(item); });
}

/// "a", "a and b", "a, b and c".
std::string enumerate(const std::vector<std::string>& items, std::string_view last = "and");
/// "first", "second", … "tenth", "11th" for 0, 1, …
std::string ordinal(size_t index);
std::string indent(std::string_view text, size_t columns);
std::string_view trim(std::string_view text);
/// Characters, not bytes: of UTF-8.
size_t display_width(std::string_view text);
bool is_identifier(std::string_view text);

/// Single-character insertions, deletions, replacements and swaps of neighbours that turn a into b.
size_t edit_distance(std::string_view a, std::string_view b);
/// The candidate nearest to `word`, if one is near enough to have been meant; case counts little.
std::optional<std::string> nearest(std::string_view word, const std::vector<std::string>& candidates);
/// "did you mean 'x'?" for the nearest candidate; else "<otherwise> a, b and c", or nothing where there are none.
std::string suggest(std::string_view word, const std::vector<std::string>& candidates, std::string_view otherwise);

}  // namespace spdistal
