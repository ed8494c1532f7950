// Text cases: what the command line tool is asked, and its whole answer, as a person reads them.
//
//     Anything before the first case is a comment.
//
//     === A matrix times a vector prints two loops
//     $ spdistal "a(i) = B(i,j) * c(j)" -f B:ds --print statement
//     forall i
//       forall j
//         a(i) += B(i,j) * c(j)
//
//     === An unknown tensor in a format is refused
//     $ spdistal "a(i) = b(i)" -f C:d
//     error: ...
//     exit 2
//
// The words of a command are split as a shell would: '...' is literal, "..." knows \" and \\, a backslash outside quotes
// takes the next character as it is, a backslash at the end of a line joins it with the next. The answer is stdout, then
// stderr. Blank lines at the end of it are layout. A line of the answer that would read as a mark of this format ("===
// ", "exit 2", or one that begins with a backslash) is written with a backslash before it. `exit N` is left out for 0.
#pragma once
#include <filesystem>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "support/program.hpp"

namespace spdistal::testing {

struct TextCase {
  std::string title;
  size_t line = 0;                          // of the title, counted from 1
  std::vector<std::string> arguments;       // without the leading "spdistal"
  std::string answer;                       // as written in the file, see `as_answer`
  size_t answer_begin = 0, answer_end = 0;  // the part of the file that holds the answer, as offsets
  int exit_code = 0;
};

/// A file that is not in the format above. The message starts with the line's number.
class BadTextCase : public std::runtime_error {
 public:
  BadTextCase(size_t line, const std::string& message)
      : std::runtime_error("line " + std::to_string(line) + ": " + message) {}
};

/// The cases of a file, in order. Throws BadTextCase.
std::vector<TextCase> parse_text_cases(std::string_view text);

/// A command line as words. Throws std::runtime_error for an open quote.
std::vector<std::string> split_command(std::string_view command);

/// What a program said, in the form a file holds: stdout then stderr, marks escaped, no blank lines at the end, `exit N`
/// last where N is not 0. A last line without its newline is followed by the line "\ no newline at the end".
std::string as_answer(const Outcome& outcome);

/// The whole of what a case expects, in the same form.
std::string expected_answer(const TextCase& expected);

/// The file's text with the answers of its cases replaced; `answers` holds one for each case. Layout and comments stay.
std::string with_answers(std::string_view text, const std::vector<TextCase>& cases,
                         const std::vector<std::string>& answers);

/// Line by line what to take away (-) and what to put (+) to get from `expected` to `actual`; empty where they agree.
std::string difference(std::string_view expected, std::string_view actual);

/// All *.test files below `folder`, sorted; none where the folder does not exist.
std::vector<std::filesystem::path> find_text_cases(const std::filesystem::path& folder);

}  // namespace spdistal::testing
