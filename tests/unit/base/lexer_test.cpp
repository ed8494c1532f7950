#include "base/lexer.hpp"

#include <gtest/gtest.h>

namespace spdistal {
namespace {

std::vector<std::string> tokens(std::string_view text) {
  Lexer in(text, "text");
  std::vector<std::string> out;
  while (!in.at_end()) out.emplace_back(in.next().text);
  return out;
}
using Words = std::vector<std::string>;

TEST(Lexers, CutTextIntoNamesNumbersAndSymbols) {
  EXPECT_EQ(tokens("a(i) = B(i,j)"), (Words{"a", "(", "i", ")", "=", "B", "(", "i", ",", "j", ")"}));
  EXPECT_EQ(tokens("a+=-b->c"), (Words{"a", "+=", "-", "b", "->", "c"}));
  EXPECT_EQ(tokens("M[1].x"), (Words{"M", "[", "1", "]", ".", "x"}));
  EXPECT_EQ(tokens("i' _x2"), (Words{"i'", "_x2"}));
  EXPECT_EQ(tokens(" \n\t "), Words{});
}

TEST(Lexers, KeepNumbersWithTheirSuffixWhole) {
  EXPECT_EQ(tokens("1 2.5 .5 1.e3 1e-3 2.5f 3L 2x2 1e+30f"),
            (Words{"1", "2.5", ".5", "1.e3", "1e-3", "2.5f", "3L", "2x2", "1e+30f"}));
  EXPECT_EQ(tokens("1-2"), (Words{"1", "-", "2"}));
  EXPECT_EQ(tokens("1e"), Words{"1e"});
}

TEST(Lexers, TakeACharacterBeyondAsciiAsOneSymbol) { EXPECT_EQ(tokens("aéb"), (Words{"a", "é", "b"})); }

TEST(Lexers, ReadEveryByteThereIs) {
  for (int byte = 0; byte < 256; byte++) {
    std::string text = {'a', char(byte), 'b'};
    EXPECT_GE(tokens(text).size(), 1u) << byte;
  }
}

TEST(Lexers, KnowWhereTokensStand) {
  Lexer in("  ab + c", "text");
  Token first = in.next();
  EXPECT_EQ(first.begin, 2u);
  EXPECT_EQ(first.end, 4u);
  EXPECT_EQ(in.previous_end(), 4u);
  EXPECT_EQ(in.peek(1).text, "c");
  EXPECT_EQ(in.peek(9).kind, Token::Kind::End);
  size_t here = in.position();
  in.next(), in.next(), in.next();
  EXPECT_TRUE(in.at_end());
  in.rewind(here);
  EXPECT_TRUE(in.at("+"));
}

TEST(Lexers, SayWhatWasExpectedAndWhatWasFound) {
  auto message = [](auto&& read) -> std::string {
    try {
      read();
    } catch (const UserError& error) { return error.what(); }
    return "nothing was refused";
  };
  EXPECT_EQ(message([] { Lexer("a", "text").expect("("); }), "error: expected '(', found 'a'\n  a\n  ^");
  EXPECT_EQ(message([] { Lexer("", "text").expect_name("a name", "such as a"); }),
            "error: expected a name, found the end of the text\n  \n  ^\nhint: such as a");
  EXPECT_EQ(message([] { Lexer("9223372036854775808", "text").expect_integer("a number"); }),
            "error: 9223372036854775808 is larger than 2^63 - 1\n  9223372036854775808\n  ^^^^^^^^^^^^^^^^^^^");
  EXPECT_EQ(message([] { Lexer("1.5", "text").expect_integer("a number"); }),
            "error: expected a number, found '1.5'\n  1.5\n  ^^^");
  EXPECT_EQ(message([] { with_hint("general", [] { return Lexer("a", "text").expect(")"); }); }),
            "error: expected ')', found 'a'\n  a\n  ^\nhint: general");
  EXPECT_EQ(message([] { with_hint("general", [] { return Lexer("a", "text").expect(")", "special"); }); }),
            "error: expected ')', found 'a'\n  a\n  ^\nhint: special");
  EXPECT_EQ(Lexer("9223372036854775807", "text").expect_integer("a number"), INT64_MAX);
}

}  // namespace
}  // namespace spdistal
