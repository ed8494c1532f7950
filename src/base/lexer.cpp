#include "base/lexer.hpp"

#include <fmt/format.h>

#include <cctype>
#include <charconv>

namespace spdistal {
namespace {

bool is_letter(char c) { return std::isalpha(static_cast<unsigned char>(c)) || c == '_'; }
bool is_digit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }

size_t end_of_name(std::string_view s, size_t at) {
  while (at < s.size() && (is_letter(s[at]) || is_digit(s[at]) || s[at] == '\'')) at++;
  return at;
}

bool is_pair(char c, char after) {
  if (after == '=') return std::string_view("+*|&<>=!").find(c) != std::string_view::npos;
  return c == '-' && after == '>';
}

// Digits, a fraction, an exponent, then letters: the suffix is judged by whoever reads the number.
size_t end_of_number(std::string_view s, size_t at) {
  auto digits = [&] {
    while (at < s.size() && is_digit(s[at])) at++;
  };
  digits();
  if (at < s.size() && s[at] == '.') at++, digits();
  if (at < s.size() && (s[at] == 'e' || s[at] == 'E')) {
    size_t sign = at + 1 < s.size() && (s[at + 1] == '+' || s[at + 1] == '-') ? 2 : 1;
    if (at + sign < s.size() && is_digit(s[at + sign])) at += sign, digits();
  }
  while (at < s.size() && (is_letter(s[at]) || is_digit(s[at]))) at++;
  return at;
}

}  // namespace

Lexer::Lexer(std::string_view source, std::string_view what) : source_(source), what_(what) {
  size_t at = 0;
  while (true) {
    while (at < source.size() && std::isspace(static_cast<unsigned char>(source[at]))) at++;
    if (at == source.size()) break;
    Token token{.kind = Token::Kind::Symbol, .text = {}, .begin = at, .end = at + 1};
    char c = source[at], after = at + 1 < source.size() ? source[at + 1] : '\0';
    if (is_letter(c)) {
      token.kind = Token::Kind::Name;
      token.end = end_of_name(source, at);
    } else if (is_digit(c) || (c == '.' && is_digit(after))) {
      token.kind = Token::Kind::Number;
      token.end = end_of_number(source, at);
    } else if (is_pair(c, after)) {
      token.end = at + 2;
    } else if (c & 0x80) {  // one UTF-8 character, whole
      while (token.end < source.size() && (source[token.end] & 0xC0) == 0x80) token.end++;
    }
    token.text = source.substr(token.begin, token.end - token.begin);
    tokens_.push_back(token);
    at = token.end;
  }
  tokens_.push_back({Token::Kind::End, {}, source.size(), source.size()});
}

Token Lexer::next() {
  Token token = peek();
  if (!at_end()) at_++;
  return token;
}

bool Lexer::at(std::string_view symbol) const { return peek().kind == Token::Kind::Symbol && peek().text == symbol; }

bool Lexer::accept(std::string_view symbol) {
  bool here = at(symbol);
  if (here) at_++;
  return here;
}

std::string Lexer::found() const {
  return at_end() ? fmt::format("the end of the {}", what_) : fmt::format("'{}'", peek().text);
}

Token Lexer::expect(std::string_view symbol, std::string_view hint) {
  if (!at(symbol)) fail(peek(), fmt::format("expected '{}', found {}", symbol, found()), std::string(hint));
  return next();
}

std::string Lexer::too_deep(std::string_view what) { return fmt::format("the {} is nested too deeply", what); }

Token Lexer::expect_name(std::string_view what, std::string_view hint) {
  if (peek().kind != Token::Kind::Name)
    fail(peek(), fmt::format("expected {}, found {}", what, found()), std::string(hint));
  return next();
}

int64_t Lexer::expect_integer(std::string_view what) {
  int64_t value = 0;
  Token token = peek();
  const char* last = token.text.data() + token.text.size();
  auto [stop, error] = std::from_chars(token.text.data(), last, value);
  if (token.kind == Token::Kind::Number && error == std::errc::result_out_of_range)
    fail(token, fmt::format("{} is larger than 2^63 - 1", token.text));
  if (token.kind != Token::Kind::Number || error != std::errc{} || stop != last)
    fail(token, fmt::format("expected {}, found {}", what, found()));
  next();
  return value;
}

void Lexer::expect_end() {
  if (!at_end()) fail(peek(), fmt::format("expected the end of the {}, found {}", what_, found()));
}

void Lexer::fail(size_t begin, size_t end, std::string message, std::string hint) const {
  throw UserError(Diagnostic{std::move(message), {{std::string(source_), begin, end}}, std::move(hint)});
}

}  // namespace spdistal
