// What stands between the parentheses of an access:
//
//   index = variable | number                              one coordinate
//         | [number "*"] variable ["+" number]             shifted, by strides
//         | variable "(" first "," end ["," stride] ")"    a window
#include <fmt/format.h>

#include "notation/parse.hpp"

namespace spdistal::notation {
namespace {

constexpr std::string_view how = "an index is a variable i, shifted i+1, a window i(2,10), or a coordinate 0";

bool is_number(const Token& token) { return token.kind == Token::Kind::Number; }

// What windows refuse, shown where it stands.
template <class F>
IndexVar made_of(const Lexer& in, size_t begin, F&& make) {
  try {
    return make();
  } catch (const UserError& error) {
    const Diagnostic& d = error.diagnostic();
    in.fail(begin, in.previous_end(), d.message, d.hint);
  }
}

int64_t parse_signed(Lexer& in, std::string_view what) {
  bool negative = in.accept("-");
  int64_t value = in.expect_integer(what);
  return negative ? -value : value;
}

IndexVar parse_window(Lexer& in, const IndexVar& var, size_t begin) {
  in.expect("(");
  int64_t first = parse_signed(in, "the first coordinate of a window"), stride = 1;
  in.expect(",", "a window is written i(first, end), or i(first, end, stride)");
  int64_t end = parse_signed(in, "the end of a window");
  if (in.accept(",")) stride = parse_signed(in, "the stride of a window");
  in.expect(")", "a window is written i(first, end), or i(first, end, stride)");
  return made_of(in, begin, [&] { return var(first, end, stride); });
}

// B(C(i)) has a function of an element, not a window.
bool begins_window(const Lexer& in) {
  return in.at("(") && (is_number(in.peek(1)) || (in.peek(1).text == "-" && is_number(in.peek(2))));
}

}  // namespace

IndexVar parse_index(Lexer& in, ParseScope& scope) {
  size_t begin = in.peek().begin;
  bool negative = in.at("-") && is_number(in.peek(1));
  int64_t factor = 1, offset = 0;
  if (negative || is_number(in.peek())) {
    factor = parse_signed(in, "a coordinate");
    if (in.accept("+")) offset = factor, factor = 1;
    else if (!in.accept("*")) return made_of(in, begin, [&] { return IndexVar::at(factor); });
  }
  IndexVar var = scope.variable(in.expect_name("an index variable", how).text);
  if (begins_window(in) && factor == 1 && offset == 0) return parse_window(in, var, begin);
  if (in.at("*") && is_number(in.peek(1))) in.next(), factor *= in.expect_integer("a stride");
  if (in.at("+") || in.at("-")) {
    bool back = in.next().text == "-";
    int64_t more = in.expect_integer("how far an index is shifted");
    offset += back ? -more : more;
  }
  return made_of(in, begin, [&] { return factor * var + offset; });
}

}  // namespace spdistal::notation
