#include "io/json.hpp"

#include <fmt/format.h>

#include <charconv>
#include <optional>

namespace spdistal {
namespace {

constexpr int deepest = 100;  // values inside of values

class JsonParser {
 public:
  explicit JsonParser(std::string_view text) : text_(text) {}

  Result<Json> all() {
    std::optional<Json> out = value(0);
    skip();
    if (out && at_ != text_.size()) out = fail("something follows its end");
    if (out) return std::move(*out);
    return Diagnostic{fmt::format("{}, at character {}", wrong_, at_ + 1), {}, {}};
  }

 private:
  std::nullopt_t fail(std::string what) {
    if (wrong_.empty()) wrong_ = std::move(what);
    return std::nullopt;
  }
  char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  void skip() {
    while (at_ < text_.size() && std::string_view(" \t\r\n").find(text_[at_]) != std::string_view::npos) at_++;
  }
  bool take(std::string_view word) {
    if (text_.substr(at_, word.size()) != word) return false;
    at_ += word.size();
    return true;
  }

  std::optional<Json> value(int depth) {
    if (depth > deepest) return fail("it goes too deep");
    skip();
    if (peek() == '{') return members(depth);
    if (peek() == '[') return list(depth);
    if (peek() == '"') {
      std::optional<std::string> text = string();
      return text ? std::optional<Json>(Json(std::move(*text))) : std::nullopt;
    }
    if (take("null")) return Json(nullptr);
    if (take("true")) return Json(true);
    if (take("false")) return Json(false);
    return number();
  }

  std::optional<Json> number() {
    size_t end = std::min(text_.find_first_not_of("+-.0123456789eE", at_), text_.size());
    std::string_view word = text_.substr(at_, end - at_);
    auto read = [&](auto number) -> std::optional<Json> {
      auto [stop, error] = std::from_chars(word.data(), word.data() + word.size(), number);
      if (error != std::errc{} || stop != word.data() + word.size()) return std::nullopt;
      at_ = end;
      return Json(number);
    };
    if (word.empty()) return fail("expected a value");
    if (std::optional<Json> whole = read(int64_t{})) return whole;
    if (std::optional<Json> real = read(double{})) return real;
    return fail("expected a number");
  }

  std::optional<Json> list(int depth) {
    Json::List out;
    at_++, skip();
    for (bool more = !take("]"); more;) {
      std::optional<Json> element = value(depth + 1);
      if (!element) return std::nullopt;
      out.push_back(std::move(*element));
      skip();
      more = take(",");
      if (!more && !take("]")) return fail("expected ',' or ']'");
    }
    return Json(std::move(out));
  }

  std::optional<Json> members(int depth) {
    Json::Members out;
    at_++, skip();
    for (bool more = !take("}"); more;) {
      skip();
      if (peek() != '"') return fail("expected a name in quotes");
      std::optional<std::string> name = string();
      skip();
      if (!name || !take(":")) return fail("expected ':'");
      std::optional<Json> element = value(depth + 1);
      if (!element) return std::nullopt;
      out.emplace_back(std::move(*name), std::move(*element));
      skip();
      more = take(",");
      if (!more && !take("}")) return fail("expected ',' or '}'");
    }
    return Json(std::move(out));
  }

  std::optional<std::string> string() {
    std::string out;
    for (at_++; !take("\"");) {
      if (at_ >= text_.size() || uint8_t(peek()) < 0x20) return fail("a text does not end");
      if (!take("\\")) {
        out += text_[at_++];
        continue;
      }
      constexpr std::string_view letters = "\"\\/bfnrt", meant = "\"\\/\b\f\n\r\t";
      if (size_t k = letters.find(peek()); at_ < text_.size() && k != letters.npos) out += meant[k], at_++;
      else if (!take("u") || !add_character(out)) return fail("expected a character after '\\'");
    }
    return out;
  }

  std::optional<uint32_t> four_digits() {
    uint32_t out = 0;
    if (text_.size() - at_ < 4) return std::nullopt;
    auto [stop, error] = std::from_chars(text_.data() + at_, text_.data() + at_ + 4, out, 16);
    if (error != std::errc{} || stop != text_.data() + at_ + 4) return std::nullopt;
    at_ += 4;
    return out;
  }
  // A character by its number, or by two where it is beyond the first 65536; as UTF-8.
  bool add_character(std::string& to) {
    std::optional<uint32_t> first = four_digits();
    if (!first) return false;
    uint32_t c = *first;
    if (c >= 0xD800 && c < 0xE000) {
      std::optional<uint32_t> second = take("\\u") ? four_digits() : std::nullopt;
      if (c >= 0xDC00 || !second || *second < 0xDC00 || *second >= 0xE000) return false;
      c = 0x10000 + ((c - 0xD800) << 10) + (*second - 0xDC00);
    }
    int more = c < 0x80 ? 0 : c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
    constexpr uint32_t leads[] = {0, 0xC0, 0xE0, 0xF0};
    to += char(leads[more] | (c >> (6 * more)));
    while (more-- > 0) to += char(0x80 | ((c >> (6 * more)) & 0x3F));
    return true;
  }

  std::string_view text_;
  size_t at_ = 0;
  std::string wrong_;
};

}  // namespace

Result<Json> Json::parse(std::string_view text) { return JsonParser(text).all(); }

const Json* Json::find(std::string_view name) const {
  if (const Members* members = as<Members>())
    for (const auto& [key, value] : *members)
      if (key == name) return &value;
  return nullptr;
}

}  // namespace spdistal
