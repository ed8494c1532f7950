#include <gtest/gtest.h>

#include "base/require.hpp"
#include "spdistal/error.hpp"
#include "spdistal/result.hpp"

namespace spdistal {
namespace {

std::string shown(const std::string& text, size_t begin, size_t end) {
  return Diagnostic{"wrong", {{text, begin, end}}, {}}.str();
}

TEST(Diagnostics, HaveAMessageExcerptsAndAHint) {
  EXPECT_EQ((Diagnostic{"wrong", {}, {}}).str(), "error: wrong");
  EXPECT_EQ((Diagnostic{"wrong", {}, "try this"}).str(), "error: wrong\nhint: try this");
  EXPECT_EQ((Diagnostic{"wrong", {{"one", 0, 3}, {"two", 1, 2}}, "try this"}).str(),
            "error: wrong\n  one\n  ^^^\n  two\n   ^\nhint: try this");
}

TEST(Diagnostics, AnEmptyPartMarksAPlace) {
  EXPECT_EQ(shown("ab", 2, 2), "error: wrong\n  ab\n    ^");
  EXPECT_EQ(shown("", 0, 0), "error: wrong\n  \n  ^");
}

TEST(Diagnostics, APartBeyondTheTextMarksNothing) { EXPECT_EQ(shown("ab", 3, 3), "error: wrong\n  ab"); }

TEST(Diagnostics, APartThatReachesBeyondTheTextIsCut) { EXPECT_EQ(shown("ab", 1, 99), "error: wrong\n  ab\n   ^"); }

TEST(Diagnostics, EveryLineOfAPartIsUnderlined) {
  EXPECT_EQ(shown("first\nsecond\nthird", 2, 9), "error: wrong\n  first\n    ^^^\n  second\n  ^^^\n  third");
}

TEST(Diagnostics, ALineBreakInAPartDrawsNoMarkOfItsOwn) {
  EXPECT_EQ(shown("ab\ncd", 0, 3), "error: wrong\n  ab\n  ^^\n  cd");
}

TEST(Diagnostics, MarksCountCharactersNotBytes) {
  EXPECT_EQ(shown("é = «x»", 7, 8), "error: wrong\n  é = «x»\n       ^");
  EXPECT_EQ(shown("日本 x", 0, 6), "error: wrong\n  日本 x\n  ^^");
}

TEST(Diagnostics, ControlCharactersAreShownAsPictures) {
  EXPECT_EQ(shown("a\x01z", 2, 3), "error: wrong\n  a␁z\n    ^");
  EXPECT_EQ(shown("a\tz", 2, 3), "error: wrong\n  a z\n    ^");
  EXPECT_EQ(shown("a\x1B[31mz", 6, 7), "error: wrong\n  a␛[31mz\n        ^") << "no colours from input";
  EXPECT_EQ((Diagnostic{std::string("found '\r'"), {}, std::string("\x7F")}).str(), "error: found '␍'\nhint: ␡");
  EXPECT_EQ(shown(std::string("a\0b", 3), 1, 2), "error: wrong\n  a␀b\n   ^");
}

TEST(Diagnostics, BytesThatAreNoTextAreReplaced) {
  EXPECT_EQ(shown("a\xFFz", 2, 3), "error: wrong\n  a\uFFFDz\n    ^");
  EXPECT_EQ(shown("\xC3", 0, 1), "error: wrong\n  \uFFFD\n  ^") << "a character that is cut";
  EXPECT_EQ(shown("\xC0\xAF", 0, 2), "error: wrong\n  \uFFFD\uFFFD\n  ^^") << "an overlong one";
}

TEST(Errors, AUserErrorSaysItsDiagnostic) {
  UserError error(Diagnostic{"wrong", {{"text", 0, 4}}, "hint"});
  EXPECT_STREQ(error.what(), "error: wrong\n  text\n  ^^^^\nhint: hint");
  EXPECT_EQ(error.diagnostic().hint, "hint");
}

TEST(Errors, ASystemErrorCarriesTheCommandAndItsLog) {
  SystemError error("the compiler failed", "c++ x.cpp", "x.cpp:1: error");
  EXPECT_STREQ(error.what(), "the compiler failed\n  command: c++ x.cpp\nx.cpp:1: error");
  EXPECT_STREQ(SystemError("the disk is full").what(), "the disk is full");
}

TEST(Errors, ABrokenInvariantNamesItselfAndItsPlace) {
  try {
    require(false, "one is two");
    FAIL() << "nothing was thrown";
  } catch (const InternalError& error) {
    std::string what = error.what();
    EXPECT_NE(what.find("it should hold that one is two"), what.npos) << what;
    EXPECT_NE(what.find("diagnostic_test.cpp:"), what.npos) << what;
  }
  EXPECT_NO_THROW(require(true, "one is one"));
}

TEST(Results, HoldAValueOrTheRefusal) {
  Result<int> good = 3, bad = Diagnostic{"no", {}, {}};
  EXPECT_TRUE(good);
  EXPECT_EQ(*good, 3);
  EXPECT_FALSE(bad);
  EXPECT_EQ(bad.refusal().message, "no");
  EXPECT_EQ(std::move(good).value(), 3);
  EXPECT_THROW(std::move(bad).value(), UserError);
  EXPECT_NO_THROW(Result<>().value());
  EXPECT_THROW(Result<>(Diagnostic{"no", {}, {}}).value(), UserError);
}

}  // namespace
}  // namespace spdistal
