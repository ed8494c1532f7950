#include "support/text_cases.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <unistd.h>

#include <fstream>

namespace spdistal::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

constexpr std::string_view two_cases =
    "A comment.\n"
    "\n"
    "=== The first case\n"
    "$ spdistal \"a(i) = b(i)\" -f \\\n"
    "    b:d\n"
    "forall i\n"
    "\n"
    "  a(i) = b(i)\n"
    "\n"
    "\n"
    "=== The second case\n"
    "$ spdistal nonsense\n"
    "error: nonsense\n"
    "exit 2\n";

TEST(TextCases, HaveATitleACommandAnAnswerAndAnExitCode) {
  std::vector<TextCase> cases = parse_text_cases(two_cases);
  ASSERT_EQ(cases.size(), 2u);
  EXPECT_EQ(cases[0].title, "The first case");
  EXPECT_EQ(cases[0].line, 3u);
  EXPECT_THAT(cases[0].arguments, ElementsAre("a(i) = b(i)", "-f", "b:d"));
  EXPECT_EQ(cases[0].answer, "forall i\n\n  a(i) = b(i)\n");
  EXPECT_EQ(cases[0].exit_code, 0);
  EXPECT_EQ(cases[1].title, "The second case");
  EXPECT_EQ(cases[1].line, 11u);
  EXPECT_THAT(cases[1].arguments, ElementsAre("nonsense"));
  EXPECT_EQ(cases[1].answer, "error: nonsense\n");
  EXPECT_EQ(cases[1].exit_code, 2);
  EXPECT_EQ(expected_answer(cases[1]), "error: nonsense\nexit 2\n");
}

TEST(TextCases, AFileWithoutCasesHasNone) {
  EXPECT_TRUE(parse_text_cases("").empty());
  EXPECT_TRUE(parse_text_cases("only a comment\n").empty());
}

TEST(TextCases, AnAnswerMayBeEmptyAndAFileMayEndWithoutANewline) {
  std::vector<TextCase> cases = parse_text_cases("=== Says nothing\n$ spdistal --quiet");
  ASSERT_EQ(cases.size(), 1u);
  EXPECT_EQ(cases[0].answer, "");
  EXPECT_EQ(with_answers("=== Says nothing\n$ spdistal --quiet", cases, {"more\n"}),
            "=== Says nothing\n$ spdistal --quiet\nmore\n");
}

TEST(TextCases, MistakesInAFileAreNamedWithTheirLine) {
  auto refused = [](std::string text, std::string message) {
    EXPECT_THAT([&] { parse_text_cases(text); }, ThrowsMessage<BadTextCase>(HasSubstr(message)));
  };
  refused("=== \n$ spdistal\n", "line 1: a case needs a title");
  refused("=== No command\noutput\n", "line 2: expected the command");
  refused("=== No command\n", "line 1: expected the command");
  refused("=== Open\n$ spdistal \"a\n", "line 2: no closing \" in the command");
  refused("=== Goes on\n$ spdistal a \\", "line 2: the command goes on");
  refused("=== After\n$ spdistal a\nexit 2\nmore\n", "line 3: nothing may follow");
  refused("=== Mark\n$ spdistal a\n===\n", "line 3: a title is written");
  refused("=== Twice\n$ spdistal a\n=== Twice\n$ spdistal b\n", "line 3: the title of line 1 is used again");
}

TEST(TextCases, CommandsAreSplitAsAShellWould) {
  EXPECT_THAT(split_command("  a  b "), ElementsAre("a", "b"));
  EXPECT_THAT(split_command("'a b'c \"d e\" ''"), ElementsAre("a bc", "d e", ""));
  EXPECT_THAT(split_command(R"("say \"x\" \\ \n" 'a\b' c\ d)"), ElementsAre(R"(say "x" \ \n)", R"(a\b)", "c d"));
  EXPECT_THROW(split_command("'open"), std::runtime_error);
}

TEST(TextCases, AnAnswerIsStdoutThenStderrThenTheExitCode) {
  EXPECT_EQ(as_answer({.out = "out\n\n", .err = "err\n\n\n", .exit_code = 3}), "out\n\nerr\nexit 3\n");
  EXPECT_EQ(as_answer({.out = "", .err = ""}), "");
  EXPECT_EQ(as_answer({.out = "\n\n", .err = ""}), "");
  EXPECT_EQ(as_answer({.out = "cut", .err = ""}), "cut\n\\ no newline at the end\n");
}

TEST(TextCases, LinesOfAnAnswerThatLookLikeMarksAreEscapedAndReadBackTheSame) {
  Outcome outcome{.out = "=== no title\nexit 7\nexit now\n\\slash\n", .err = "", .exit_code = 1};
  std::string answer = as_answer(outcome);
  EXPECT_EQ(answer, "\\=== no title\n\\exit 7\nexit now\n\\\\slash\nexit 1\n");
  std::vector<TextCase> cases = parse_text_cases("=== Marks\n$ spdistal\n" + answer);
  ASSERT_EQ(cases.size(), 1u);
  EXPECT_EQ(expected_answer(cases[0]), answer);
}

TEST(TextCases, AnUpdateReplacesTheAnswersAndKeepsEverythingElse) {
  std::vector<TextCase> cases = parse_text_cases(two_cases);
  std::string same = with_answers(two_cases, cases, {expected_answer(cases[0]), expected_answer(cases[1])});
  EXPECT_EQ(same, two_cases);
  std::string changed = with_answers(two_cases, cases, {"new\nexit 4\n", ""});
  EXPECT_EQ(changed,
            "A comment.\n\n=== The first case\n$ spdistal \"a(i) = b(i)\" -f \\\n    b:d\nnew\nexit 4\n\n\n"
            "=== The second case\n$ spdistal nonsense\n");
  std::vector<TextCase> again = parse_text_cases(changed);
  EXPECT_EQ(expected_answer(again[0]), "new\nexit 4\n");
  EXPECT_EQ(expected_answer(again[1]), "");
}

TEST(TextCases, ADifferenceShowsWhatToTakeAndWhatToPutAmongWhatStays) {
  EXPECT_EQ(difference("a\nb\n", "a\nb\n"), "");
  EXPECT_EQ(difference("a\nb\nc\n", "a\nx\nc\nd\n"), " a\n-b\n+x\n c\n+d\n");
  EXPECT_EQ(difference("", "a\n"), "+a\n");
}

TEST(TextCases, FilesAreFoundInAllFoldersInOrder) {
  namespace fs = std::filesystem;
  fs::path folder = fs::path(::testing::TempDir()) / ("text_cases_" + std::to_string(getpid()));
  fs::create_directories(folder / "b");
  for (const char* name : {"b/x.test", "a.test", "a.txt"}) std::ofstream(folder / name) << "";
  EXPECT_THAT(find_text_cases(folder), ElementsAre(folder / "a.test", folder / "b/x.test"));
  EXPECT_TRUE(find_text_cases(folder / "none").empty());
  fs::remove_all(folder);
}

constexpr std::chrono::seconds plenty(60);

TEST(Program, SaysWhatItSaidOnEachStreamAndHowItEnded) {
  Outcome outcome = run_program("/bin/sh", {"-c", "echo out; echo err >&2; echo more; exit 5"}, ".", plenty);
  EXPECT_EQ(outcome.out, "out\nmore\n");
  EXPECT_EQ(outcome.err, "err\n");
  EXPECT_EQ(outcome.exit_code, 5);
  EXPECT_FALSE(outcome.timed_out);
}

TEST(Program, GetsItsArgumentsUntouchedAndRunsInTheGivenFolder) {
  EXPECT_EQ(run_program("/bin/sh", {"-c", "printf '%s|' \"$@\"; pwd", "sh", "a b", "", "$HOME *"}, "/", plenty).out,
            "a b||$HOME *|/\n");
}

TEST(Program, ThatIsEndedByASignalHasItsNumberInTheExitCode) {
  EXPECT_EQ(run_program("/bin/sh", {"-c", "kill -9 $$"}, ".", plenty).exit_code, 128 + 9);
}

TEST(Program, ThatWritesMoreThanAPipeHoldsIsReadToTheEnd) {
  Outcome outcome =
      run_program("/bin/sh", {"-c", "head -c 300000 /dev/zero; head -c 200000 /dev/zero >&2"}, ".", plenty);
  EXPECT_EQ(outcome.out.size(), 300000u);
  EXPECT_EQ(outcome.err.size(), 200000u);
}

TEST(Program, ThatDoesNotEndIsKilledWithItsChildren) {
  Outcome outcome = run_program("/bin/sh", {"-c", "echo begun; sleep 1000; :"}, ".", std::chrono::milliseconds(500));
  EXPECT_TRUE(outcome.timed_out);
  EXPECT_EQ(outcome.exit_code, 128 + 9);
}

TEST(Program, ThatDoesNotExistIsAnErrorThatNamesIt) {
  EXPECT_THAT([] { run_program("/bin/no-such-program", {}, ".", plenty); },
              ThrowsMessage<std::runtime_error>(HasSubstr("/bin/no-such-program")));
  EXPECT_THROW(run_program("/bin/sh", {}, "/no/such/folder", plenty), std::runtime_error);
}

}  // namespace
}  // namespace spdistal::testing
