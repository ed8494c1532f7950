#include "io/entries.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "io/number.hpp"
#include "tensor/values.hpp"

namespace spdistal {
namespace {

std::string_view token_at(std::string_view chunk, size_t at) {
  size_t end = at;
  while (end < chunk.size() && chunk[end] != '\n' && !is_blank(chunk[end])) end++;
  return chunk.substr(at, end - at);
}

const char* skip_blanks(const char* p, const char* end) {
  while (p < end && is_blank(*p)) p++;
  return p;
}

bool ends_word(const char* p, const char* end) { return p == end || *p == '\n' || is_blank(*p); }

// One real number into an element; the place behind it, or null.
template <class T>
const char* read_into(const char* p, const char* end, T& out) {
  if constexpr (std::is_same_v<T, float> || std::is_same_v<T, double>) {
    return read_real(p, end, out);
  } else {
    double value = 0;
    p = read_real(p, end, value);
    if (!p || !fits<T>(value)) return nullptr;
    out = convert_value<T>(value);
    return p;
  }
}

template <class T>
const char* read_value(Field field, const char* p, const char* end, T& out) {
  switch (field) {
    case Field::Pattern: out = T(1); return p;
    case Field::Integer: {
      int64_t value = 0;
      p = read_integer(p, end, value);
      if (!p || !fits<T>(value)) return nullptr;
      out = convert_value<T>(value);
      return p;
    }
    case Field::Real:
      if constexpr (std::is_integral_v<T>) {  // exact where it is an integer
        int64_t value = 0;
        const char* behind = read_integer(p, end, value);
        if (behind && ends_word(behind, end)) {
          if (!fits<T>(value)) return nullptr;
          out = convert_value<T>(value);
          return behind;
        }
      }
      if constexpr (is_complex_type<T>) {
        typename T::value_type real{};
        p = read_into(p, end, real);
        out = T(real);
        return p;
      } else {
        return read_into(p, end, out);
      }
    case Field::Complex:
      if constexpr (is_complex_type<T>) {
        typename T::value_type real{}, imaginary{};
        p = read_into(p, end, real);
        if (!p || !ends_word(p, end)) return nullptr;
        p = read_into(skip_blanks(p, end), end, imaginary);
        out = T(real, imaginary);
        return p;
      }
  }
  return nullptr;
}

// Says what is wrong with the coordinate at p.
TextFault coordinate_fault(std::string_view chunk, const EntryLayout& layout, size_t d, const char* p) {
  size_t begin = size_t(p - chunk.data());
  std::string_view token = token_at(chunk, begin);
  TextFault fault{begin, begin + token.size(), {}, {}};
  const std::string& name = layout.names[d];
  bool number = !token.empty() && std::all_of(token.begin(), token.end(), is_digit);
  std::string last = layout.dims[d] == INT64_MAX ? "2^63 - 1" : std::to_string(layout.dims[d]);
  if (!number) fault.message = fmt::format("expected a {}, found {}", name, describe_token(token));
  else if (layout.dims[d] == 0) fault.message = fmt::format("expected no entry, as there is no {}", name);
  else fault.message = fmt::format("expected a {} of 1 to {}, found {}", name, last, describe_token(token));
  return fault;
}

// Is a word a number, however large?
bool is_number(std::string_view word) {
  if (word.starts_with('+')) word.remove_prefix(1);
  double value = 0;
  auto [stop, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  return error != std::errc::invalid_argument && stop == word.data() + word.size();
}

// Is a text what a field asks for, whether or not a type can hold it?
bool is_value(Field field, std::string_view text) {
  if (field == Field::Integer) {
    text.remove_prefix(text.starts_with('+') || text.starts_with('-'));
    return !text.empty() && std::all_of(text.begin(), text.end(), is_digit);
  }
  if (field != Field::Complex) return is_number(text);
  std::string_view real = token_at(text, 0), rest = text.substr(real.size());
  while (!rest.empty() && is_blank(rest[0])) rest.remove_prefix(1);
  return is_number(real) && is_number(rest);
}

TextFault value_fault(std::string_view chunk, const EntryLayout& layout, const char* p) {
  size_t begin = size_t(p - chunk.data());
  size_t stop = std::min(chunk.find('\n', begin), chunk.size());
  while (stop > begin && is_blank(chunk[stop - 1])) stop--;
  std::string_view rest = layout.field == Field::Complex ? chunk.substr(begin, stop - begin) : token_at(chunk, begin);
  return {begin,
          begin + rest.size(),
          is_value(layout.field, rest)
              ? fmt::format("{} does not fit {}", describe_token(rest), name_of(layout.type))
              : fmt::format("expected {}, found {}", describe(layout.field), describe_token(rest)),
          {}};
}

// `order` is the number of coordinates where it is known when compiling, else 0.
template <class T, size_t order>
ParsedChunk parse(std::string_view chunk, const EntryLayout& layout, Coordinates& into, int64_t at) {
  size_t n = order ? order : layout.order();
  std::vector<int64_t*> columns;
  for (size_t d = 0; d < n; d++) columns.push_back(into.column(d).data() + at);
  T* values = into.values<T>().data() + at;
  ParsedChunk out;
  const char *p = chunk.data(), *end = p + chunk.size();
  const Field field = layout.field;
  while (p < end) {
    p = skip_blanks(p, end);
    if (p == end) break;
    if (*p == '\n') {
      p++;
      continue;
    }
    if (*p == layout.comment) {
      auto* stop = static_cast<const char*>(std::memchr(p, '\n', size_t(end - p)));
      p = stop ? stop + 1 : end;
      continue;
    }
    for (size_t d = 0; d < n; d++) {
      uint64_t index = 0;
      const char* behind = read_index(p, end, index);
      if (!behind || !ends_word(behind, end) || index - 1 >= uint64_t(layout.dims[d])) [[unlikely]] {
        out.fault = coordinate_fault(chunk, layout, d, p);
        return out;
      }
      columns[d][out.entries] = int64_t(index - 1);
      p = skip_blanks(behind, end);
    }
    const char* behind = read_value(field, p, end, values[out.entries]);
    if (!behind || (field != Field::Pattern && !ends_word(behind, end))) [[unlikely]] {
      out.fault = value_fault(chunk, layout, p);
      return out;
    }
    p = skip_blanks(behind, end);
    if (p < end && *p != '\n') [[unlikely]] {
      size_t begin = size_t(p - chunk.data());
      std::string_view token = token_at(chunk, begin);
      out.fault = TextFault{begin, begin + token.size(),
                            fmt::format("expected the end of the line, found {}", describe_token(token)),
                            "each line has one entry"};
      return out;
    }
    if (p < end) p++;
    out.entries++;
  }
  return out;
}

}  // namespace

std::string_view describe(Field field) {
  constexpr std::string_view words[] = {"nothing", "an integer", "a real number",
                                        "a complex number (real and imaginary part)"};
  return words[size_t(field)];
}

std::string describe_token(std::string_view text) {
  if (text.empty()) return "the end of the line";
  std::string out = "'";
  for (char c : text.substr(0, 40)) out += c >= ' ' && c <= '~' ? c : '?';
  return out + (text.size() > 40 ? "…'" : "'");
}

int64_t entries_at_most(std::string_view chunk, const EntryLayout& layout) {
  int64_t lines = std::count(chunk.begin(), chunk.end(), '\n') + 1;
  // A number and what ends it, for each coordinate and for the value.
  size_t words = std::max<size_t>(1, layout.order() + (layout.field == Field::Pattern ? 0 : 1));
  // One more, for a line that begins as an entry and turns out to be none.
  return std::min(lines, int64_t((chunk.size() + 1) / (2 * words)) + 1);
}

ParsedChunk parse_entries(std::string_view chunk, const EntryLayout& layout, Coordinates& into, int64_t at) {
  return with_type(layout.type, [&](auto zero) {
    using T = decltype(zero);
    switch (layout.order()) {
      case 2: return parse<T, 2>(chunk, layout, into, at);
      case 3: return parse<T, 3>(chunk, layout, into, at);
      default: return parse<T, 0>(chunk, layout, into, at);
    }
  });
}

}  // namespace spdistal
