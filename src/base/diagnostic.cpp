#include <fmt/format.h>

#include <algorithm>

#include "spdistal/error.hpp"

namespace spdistal {
namespace {

// Columns a UTF-8 text takes on a terminal, counting every code point as one.
size_t width(std::string_view text) {
  return size_t(std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; }));
}

void show(std::string& out, const Excerpt& excerpt) {
  std::string_view text = excerpt.text;
  size_t begin = std::min(excerpt.begin, text.size()), end = std::clamp(excerpt.end, begin, text.size());
  for (size_t at = 0; at <= text.size();) {
    size_t stop = std::min(text.find('\n', at), text.size());
    std::string_view line = text.substr(at, stop - at);
    out += fmt::format("\n  {}", line);
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
  std::string out = "error: " + message;
  for (const Excerpt& excerpt : excerpts) show(out, excerpt);
  if (!hint.empty()) out += "\nhint: " + hint;
  return out;
}

}  // namespace spdistal
