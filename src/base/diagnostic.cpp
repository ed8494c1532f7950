#include <fmt/format.h>

#include <algorithm>

#include "spdistal/error.hpp"

namespace spdistal {
namespace {

// Bytes of the UTF-8 character at the start of a text; 0 where there is none.
size_t character(std::string_view text) {
  auto byte = [&](size_t k) { return static_cast<unsigned char>(text[k]); };
  size_t length = byte(0) < 0x80   ? 1
                  : byte(0) < 0xC2 ? 0
                  : byte(0) < 0xE0 ? 2
                  : byte(0) < 0xF0 ? 3
                  : byte(0) < 0xF5 ? 4
                                   : 0;
  if (length > text.size()) return 0;
  for (size_t k = 1; k < length; k++)
    if ((byte(k) & 0xC0) != 0x80) return 0;
  return length;
}

// Text as a terminal can show it, one column for each character: a tab is a blank, other control characters are their
// pictures, and bytes that are no UTF-8 the replacement character. Newlines stay.
std::string visible(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    size_t length = character(text);
    auto c = static_cast<unsigned char>(text[0]);
    if (length == 0) out += "\uFFFD";
    else if (c == '\t') out += ' ';
    else if (c < 0x20 && c != '\n') (out += "\xE2\x90") += char(0x80 + c);
    else if (c == 0x7F) out += "\u2421";
    else out += text.substr(0, length);
    text.remove_prefix(std::max<size_t>(1, length));
  }
  return out;
}

// Columns a UTF-8 text takes on a terminal, counting every code point as one.
size_t width(std::string_view text) {
  std::string shown = visible(text);
  return size_t(std::count_if(shown.begin(), shown.end(), [](char c) { return (c & 0xC0) != 0x80; }));
}

void show(std::string& out, const Excerpt& excerpt) {
  std::string_view text = excerpt.text;
  size_t begin = std::min(excerpt.begin, text.size()), end = std::clamp(excerpt.end, begin, text.size());
  for (size_t at = 0; at <= text.size();) {
    size_t stop = std::min(text.find('\n', at), text.size());
    std::string_view line = text.substr(at, stop - at);
    out += fmt::format("\n  {}", visible(line));
    size_t from = std::max(at, begin), to = std::min(stop, end);
    // A mark between two characters is drawn once, on the line that holds it.
    bool here = excerpt.begin > text.size() ? false : begin == end ? begin >= at && begin <= stop : from < to;
    if (here) {
      size_t skip = width(text.substr(at, from - at)),
             length = std::max<size_t>(1, width(text.substr(from, to - from)));
      out += fmt::format("\n  {}{}", std::string(skip, ' '), std::string(length, '^'));
    }
    at = stop + 1;
  }
}

}  // namespace

std::string Diagnostic::str() const {
  std::string out = "error: " + visible(message);
  for (const Excerpt& excerpt : excerpts) show(out, excerpt);
  if (!hint.empty()) out += "\nhint: " + visible(hint);
  return out;
}

}  // namespace spdistal
