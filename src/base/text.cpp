#include "base/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

namespace spdistal {

std::string enumerate(const std::vector<std::string>& items, std::string_view last) {
  std::string out;
  for (size_t i = 0; i < items.size(); i++) {
    if (i > 0) out += i + 1 == items.size() ? fmt::format(" {} ", last) : ", ";
    out += items[i];
  }
  return out;
}

std::string ordinal(size_t index) {
  static constexpr std::string_view words[] = {"first", "second",  "third",  "fourth", "fifth",
                                               "sixth", "seventh", "eighth", "ninth",  "tenth"};
  return index < std::size(words) ? std::string(words[index]) : fmt::format("{}th", index + 1);
}

std::string indent(std::string_view text, size_t columns) {
  std::string out;
  for (size_t at = 0; at < text.size();) {
    size_t stop = std::min(text.find('\n', at), text.size());
    if (stop > at) out += std::string(columns, ' ');
    out += text.substr(at, stop - at);
    if (stop < text.size()) out += '\n';
    at = stop + 1;
  }
  return out;
}

std::string_view trim(std::string_view text) {
  auto blank = [](char c) { return std::isspace(static_cast<unsigned char>(c)) != 0; };
  while (!text.empty() && blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && blank(text.back())) text.remove_suffix(1);
  return text;
}

size_t display_width(std::string_view text) {
  return size_t(std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; }));
}

bool is_identifier(std::string_view text) {
  auto letter = [](char c) { return std::isalpha(static_cast<unsigned char>(c)) || c == '_'; };
  auto digit = [](char c) { return std::isdigit(static_cast<unsigned char>(c)) || c == '\''; };
  return !text.empty() && letter(text[0]) &&
         std::all_of(text.begin(), text.end(), [&](char c) { return letter(c) || digit(c); });
}

size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::vector<size_t>> cost(a.size() + 1, std::vector<size_t>(b.size() + 1));
  for (size_t i = 0; i <= a.size(); i++) cost[i][0] = i;
  for (size_t j = 0; j <= b.size(); j++) cost[0][j] = j;
  for (size_t i = 1; i <= a.size(); i++)
    for (size_t j = 1; j <= b.size(); j++) {
      cost[i][j] = std::min({cost[i - 1][j] + 1, cost[i][j - 1] + 1, cost[i - 1][j - 1] + (a[i - 1] != b[j - 1])});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        cost[i][j] = std::min(cost[i][j], cost[i - 2][j - 2] + 1);
    }
  return cost[a.size()][b.size()];
}

std::optional<std::string> nearest(std::string_view word, const std::vector<std::string>& candidates) {
  auto lower = [](std::string_view text) {
    std::string out(text);
    for (char& c : out) c = char(std::tolower(static_cast<unsigned char>(c)));
    return out;
  };
  std::optional<std::string> best;
  size_t best_cost = std::max<size_t>(1, word.size() / 3) * 2 + 1;
  for (const std::string& candidate : candidates) {
    size_t exact = edit_distance(word, candidate), folded = edit_distance(lower(word), lower(candidate));
    size_t cost = folded * 2 + (exact > folded);
    if (cost < best_cost && folded < std::max(word.size(), candidate.size())) best = candidate, best_cost = cost;
  }
  return best;
}

std::string suggest(std::string_view word, const std::vector<std::string>& candidates, std::string_view otherwise) {
  if (auto near = nearest(word, candidates)) return fmt::format("did you mean '{}'?", *near);
  return candidates.empty() ? "" : fmt::format("{} {}", otherwise, enumerate(candidates));
}

}  // namespace spdistal
