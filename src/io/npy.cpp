// "\x93NUMPY", two bytes of version, the length of the text (2 bytes, from version 2 on 4), the text:
// {'descr': '<f8', 'fortran_order': False, 'shape': (3, 4), } and spaces up to a multiple of 64.
#include "io/npy.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>

namespace spdistal {
namespace {

constexpr std::string_view mark = "\x93NUMPY";

// What follows a key of the text, up to its end.
std::optional<std::string_view> after_key(std::string_view text, std::string_view key) {
  size_t at = text.find(fmt::format("'{}'", key));
  if (at == text.npos) return std::nullopt;
  at = text.find(':', at);
  if (at == text.npos) return std::nullopt;
  at = text.find_first_not_of(" \t", at + 1);
  return at == text.npos ? std::nullopt : std::optional(text.substr(at));
}

std::optional<std::vector<int64_t>> sizes_in(std::string_view text) {
  std::vector<int64_t> out;
  size_t end = text.find(')');
  if (!text.starts_with('(') || end == text.npos) return std::nullopt;
  text = text.substr(1, end - 1);
  while (true) {
    text.remove_prefix(std::min(text.size(), text.find_first_not_of(" \t,L")));
    if (text.empty()) return out;
    int64_t size = 0;
    auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), size);
    if (error != std::errc{} || size < 0) return std::nullopt;
    out.push_back(size);
    text.remove_prefix(size_t(stop - text.data()));
  }
}

Diagnostic no_array(std::string message) { return {std::move(message), {}, {}}; }

}  // namespace

Result<NpyHeader> read_npy_header(std::string_view bytes) {
  if (!bytes.starts_with(mark) || bytes.size() < 12) return no_array("it does not start as an array of numpy does");
  auto byte = [&](size_t at) { return uint64_t(static_cast<unsigned char>(bytes[at])); };
  bool wide = byte(6) >= 2;
  uint64_t begin = wide ? 12 : 10;
  uint64_t size = byte(8) | byte(9) << 8 | (wide ? byte(10) << 16 | byte(11) << 24 : 0);
  if (size > bytes.size() - begin) return no_array("its header goes beyond its end");
  std::string_view text = bytes.substr(begin, size);
  auto descr = after_key(text, "descr"), shape = after_key(text, "shape");
  if (!descr || !shape) return no_array("its header tells no type or no sizes");
  NpyHeader out;
  out.bytes = begin + size;
  if (!descr->starts_with('\'') || descr->size() < 5)
    return no_array("its elements are of several parts, which no tensor has");
  char order = (*descr)[1];
  out.kind = (*descr)[2];
  const char* end = descr->data() + descr->size();
  auto [stop, error] = std::from_chars(descr->data() + 3, end, out.width);
  if (error != std::errc{} || stop == end || *stop != '\'' ||
      std::string_view("<>|=").find(order) == std::string_view::npos)
    return no_array("its header tells no type of elements");
  if (out.kind == 'U' && __builtin_mul_overflow(out.width, size_t(4), &out.width))
    return no_array("its header tells no type of elements");
  out.swapped = order == (std::endian::native == std::endian::little ? '>' : '<') && out.width > 1;
  auto sizes = sizes_in(*shape);
  if (!sizes) return no_array("its header tells no sizes");
  out.shape = std::move(*sizes);
  return out;
}

Result<ScalarType> NpyHeader::type() const {
  bool whole = (kind == 'i' || kind == 'u') && std::has_single_bit(width) && width <= 8;
  if (kind == 'b' && width == 1) return ScalarType::Bool;
  if (whole) return width < 4 || (kind == 'i' && width == 4) ? ScalarType::Int32 : ScalarType::Int64;
  if (kind == 'f' && (width == 4 || width == 8)) return width == 4 ? ScalarType::Float32 : ScalarType::Float64;
  if (kind == 'c' && (width == 8 || width == 16)) return width == 8 ? ScalarType::Complex64 : ScalarType::Complex128;
  return no_array(fmt::format("there is no element type for numpy's '{}{}'", kind, width));
}

std::string npy_header(std::string_view descr, std::optional<int64_t> size) {
  std::string text = fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': {}, }}", descr,
                                 size ? fmt::format("({},)", *size) : "()");
  constexpr size_t begin = 10, alignment = 64;
  text.resize((begin + text.size() + 1 + alignment - 1) / alignment * alignment - begin, ' ');
  text.back() = '\n';
  std::string out(mark);
  out += {'\x01', '\x00', char(text.size() & 0xff), char(text.size() >> 8)};
  return out + text;
}

std::string npy_descr(ScalarType type) {
  char order = std::endian::native == std::endian::little ? '<' : '>';
  switch (type) {
    case ScalarType::Bool: return "|b1";
    case ScalarType::Int32: return fmt::format("{}i4", order);
    case ScalarType::Int64: return fmt::format("{}i8", order);
    case ScalarType::Float32: return fmt::format("{}f4", order);
    case ScalarType::Float64: return fmt::format("{}f8", order);
    case ScalarType::Complex64: return fmt::format("{}c8", order);
    case ScalarType::Complex128: return fmt::format("{}c16", order);
  }
  return {};
}

}  // namespace spdistal
