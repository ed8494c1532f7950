// Tokens with places, and the error that points at one: what the parsers of statements, formats, machines,
// distributions and schedules share.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/require.hpp"
#include "spdistal/error.hpp"

namespace spdistal {

struct Token {
  enum class Kind : uint8_t { Name, Number, Symbol, End };
  Kind kind = Kind::End;
  std::string_view text;      // into the source; a number with its suffix, such as 2.5f
  size_t begin = 0, end = 0;  // in the source
};

/// The tokens of one text, read from left to right. Names are identifiers; numbers start with a digit or with '.' and a
/// digit; the symbols "->", "+=", "*=", "|=", "&=", "<=", ">=", "==", "!=" and any other single printable character stand for
/// themselves.
class Lexer {
 public:
  /// `what` names the text in errors ("statement", "schedule", …).
  Lexer(std::string_view source, std::string_view what);

  const Token& peek(size_t ahead = 0) const { return tokens_[std::min(at_ + ahead, tokens_.size() - 1)]; }
  Token next();
  /// Where the token taken last ends.
  size_t previous_end() const { return at_ == 0 ? 0 : tokens_[at_ - 1].end; }
  bool at_end() const { return peek().kind == Token::Kind::End; }
  /// Is the next token this symbol?
  bool at(std::string_view symbol) const;
  /// Takes the next token if it is this symbol.
  bool accept(std::string_view symbol);
  /// Takes this symbol, or says what was expected.
  Token expect(std::string_view symbol, std::string_view hint = {});
  /// Takes a name, or says that `what` was expected.
  Token expect_name(std::string_view what, std::string_view hint = {});
  int64_t expect_integer(std::string_view what);
  /// Nothing may follow.
  void expect_end();
  /// Goes back to a token that was seen.
  size_t position() const { return at_; }
  void rewind(size_t position) { at_ = position; }

  /// An error about [begin, end) of the source.
  [[noreturn]] void fail(size_t begin, size_t end, std::string message, std::string hint = {}) const;
  [[noreturn]] void fail(const Token& token, std::string message, std::string hint = {}) const {
    fail(token.begin, token.end, std::move(message), std::move(hint));
  }
  std::string_view source() const { return source_; }
  /// The number of tokens.
  size_t size() const { return tokens_.size() - 1; }

  /// Held while a nested part is read: fails where parts are nested deeper than any sensible text, so that none makes
  /// a reader run out of stack.
  class Nested {
   public:
    explicit Nested(Lexer& in) : in_(in) {
      if (++in_.depth_ > 200) in_.fail(in_.peek(), too_deep(in_.what_));
    }
    ~Nested() { in_.depth_--; }
    Nested(const Nested&) = delete;
    Nested& operator=(const Nested&) = delete;

   private:
    Lexer& in_;
  };

 private:
  std::string found() const;
  static std::string too_deep(std::string_view what);

  size_t depth_ = 0;
  std::string_view source_, what_;
  std::vector<Token> tokens_;
  size_t at_ = 0;
};

/// Reads with f; an error that has no hint of its own gets this one.
template <class F>
auto with_hint(std::string_view hint, F&& f) {
  try {
    return f();
  } catch (const UserError& error) {
    Diagnostic d = error.diagnostic();
    if (d.hint.empty()) d.hint = hint;
    throw UserError(d);
  }
}

}  // namespace spdistal
