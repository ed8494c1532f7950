#include "support/text_cases.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <optional>

namespace spdistal::testing {
namespace {

constexpr std::string_view title_mark = "=== ", command_mark = "$ spdistal", no_newline = "\\ no newline at the end";

struct Line {
  std::string_view text;  // without its newline
  size_t begin, end;      // in the file, the newline included
  size_t number;
};

std::vector<Line> lines_of(std::string_view text) {
  std::vector<Line> lines;
  for (size_t at = 0; at < text.size();) {
    size_t stop = std::min(text.find('\n', at), text.size());
    lines.push_back({text.substr(at, stop - at), at, std::min(stop + 1, text.size()), lines.size() + 1});
    at = stop + 1;
  }
  return lines;
}

bool blank(std::string_view line) { return line.find_first_not_of(" \t") == line.npos; }

// The number of an "exit N" line.
std::optional<int> exit_line(std::string_view line) {
  if (!line.starts_with("exit ")) return std::nullopt;
  line.remove_prefix(5);
  int code = 0;
  auto [stop, error] = std::from_chars(line.data(), line.data() + line.size(), code);
  if (error != std::errc{} || stop != line.data() + line.size()) return std::nullopt;
  return code;
}

bool is_mark(std::string_view line) {
  return line.starts_with("===") || line.starts_with("\\") || exit_line(line).has_value();
}

void drop_blank_end(std::vector<Line>& lines) {
  while (!lines.empty() && blank(lines.back().text)) lines.pop_back();
}

// One case: the lines from a title up to the next one.
TextCase parse_case(const std::vector<Line>& lines) {
  TextCase result;
  result.line = lines[0].number;
  result.title = lines[0].text.substr(title_mark.size());
  if (blank(result.title)) throw BadTextCase(result.line, "a case needs a title");

  size_t at = 1;
  while (at < lines.size() && blank(lines[at].text)) at++;
  if (at == lines.size() || !lines[at].text.starts_with(command_mark))
    throw BadTextCase(lines[std::min(at, lines.size() - 1)].number,
                      "expected the command, \"$ spdistal ...\", after the title \"" + result.title + "\"");
  size_t command_line = lines[at].number;
  std::string command(lines[at++].text.substr(command_mark.size()));
  while (command.ends_with('\\')) {
    if (at == lines.size()) throw BadTextCase(command_line, "the command goes on after the last line");
    command.pop_back();
    command += lines[at++].text;
  }
  try {
    result.arguments = split_command(command);
  } catch (const std::runtime_error& error) { throw BadTextCase(command_line, error.what()); }

  std::vector<Line> answer(lines.begin() + ptrdiff_t(at), lines.end());
  result.answer_begin = lines[at - 1].end;
  drop_blank_end(answer);
  result.answer_end = answer.empty() ? result.answer_begin : answer.back().end;
  if (!answer.empty())
    if (auto code = exit_line(answer.back().text)) {
      result.exit_code = *code;
      answer.pop_back();
      drop_blank_end(answer);
    }
  for (const Line& line : answer) {
    if (exit_line(line.text)) throw BadTextCase(line.number, "nothing may follow \"exit N\" in a case");
    if (line.text.starts_with("===")) throw BadTextCase(line.number, "a title is written \"=== title\"");
    result.answer.append(line.text) += '\n';
  }
  return result;
}

}  // namespace

std::vector<TextCase> parse_text_cases(std::string_view text) {
  std::vector<Line> lines = lines_of(text);
  auto is_title = [](const Line& line) { return line.text.starts_with(title_mark); };
  std::vector<TextCase> cases;
  auto begin = std::find_if(lines.begin(), lines.end(), is_title);
  while (begin != lines.end()) {
    auto end = std::find_if(begin + 1, lines.end(), is_title);
    cases.push_back(parse_case({begin, end}));
    for (size_t i = 0; i + 1 < cases.size(); i++)
      if (cases[i].title == cases.back().title)
        throw BadTextCase(cases.back().line, "the title of line " + std::to_string(cases[i].line) + " is used again");
    begin = end;
  }
  return cases;
}

std::vector<std::string> split_command(std::string_view command) {
  std::vector<std::string> words;
  bool inside = false;  // a word has begun; it may be empty, as in ''
  for (size_t at = 0; at < command.size(); at++) {
    char c = command[at];
    if (std::isspace(static_cast<unsigned char>(c))) {
      inside = false;
      continue;
    }
    if (!inside) words.emplace_back();
    inside = true;
    if (c == '\'' || c == '"') {
      for (at++; at < command.size() && command[at] != c; at++) {
        bool escaped = c == '"' && command[at] == '\\' && at + 1 < command.size() &&
                       (command[at + 1] == '"' || command[at + 1] == '\\');
        words.back() += command[escaped ? ++at : at];
      }
      if (at == command.size()) throw std::runtime_error(std::string("no closing ") + c + " in the command");
    } else if (c == '\\' && at + 1 < command.size()) {
      words.back() += command[++at];
    } else {
      words.back() += c;
    }
  }
  return words;
}

std::string as_answer(const Outcome& outcome) {
  std::string answer;
  auto add = [&](std::string_view text) {
    for (const Line& line : lines_of(text)) {
      if (is_mark(line.text)) answer += '\\';
      answer.append(line.text) += '\n';
    }
    if (!text.empty() && text.back() != '\n') answer.append(no_newline) += '\n';
  };
  add(outcome.out);
  add(outcome.err);
  // Blank lines at the end are layout.
  size_t end = answer.find_last_not_of(" \t\n");
  if (end == answer.npos) answer.clear();
  else answer.erase(answer.find('\n', end) + 1);
  if (outcome.exit_code != 0) answer += "exit " + std::to_string(outcome.exit_code) + "\n";
  return answer;
}

std::string expected_answer(const TextCase& expected) {
  return expected.answer + (expected.exit_code ? "exit " + std::to_string(expected.exit_code) + "\n" : "");
}

std::string with_answers(std::string_view text, const std::vector<TextCase>& cases,
                         const std::vector<std::string>& answers) {
  std::string result;
  size_t at = 0;
  for (size_t i = 0; i < cases.size(); i++) {
    result += text.substr(at, cases[i].answer_begin - at);
    if (!result.ends_with('\n')) result += '\n';
    result += answers[i];
    at = cases[i].answer_end;
  }
  return result += text.substr(at);
}

std::string difference(std::string_view expected, std::string_view actual) {
  if (expected == actual) return {};
  std::vector<Line> a = lines_of(expected), b = lines_of(actual);
  // common[i][j]: length of the longest common subsequence of a[i..] and b[j..].
  std::vector<std::vector<size_t>> common(a.size() + 1, std::vector<size_t>(b.size() + 1));
  for (size_t i = a.size(); i-- > 0;)
    for (size_t j = b.size(); j-- > 0;)
      common[i][j] = a[i].text == b[j].text ? common[i + 1][j + 1] + 1 : std::max(common[i + 1][j], common[i][j + 1]);
  std::string result;
  auto add = [&](char sign, std::string_view line) { ((result += sign).append(line)) += '\n'; };
  for (size_t i = 0, j = 0; i < a.size() || j < b.size();) {
    if (i < a.size() && j < b.size() && a[i].text == b[j].text) {
      add(' ', a[i].text);
      i++, j++;
    } else if (i < a.size() && (j == b.size() || common[i + 1][j] >= common[i][j + 1])) {
      add('-', a[i++].text);
    } else {
      add('+', b[j++].text);
    }
  }
  return result;
}

std::vector<std::filesystem::path> find_text_cases(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> files;
  if (!std::filesystem::exists(folder)) return files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder))
    if (entry.is_regular_file() && entry.path().extension() == ".test") files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  return files;
}

}  // namespace spdistal::testing
