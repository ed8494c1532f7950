// One test for each case of the *.test files below tests/golden and tests/error (their format: support/text_cases.hpp).
//
//     build/bin/golden_test                            runs them all; --gtest_filter takes some
//     build/bin/golden_test --update [file.test ...]   writes the tool's answers of today into the files: read the diff
//
// A case runs in the folder of its file, so that it can name data beside it.
#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>
#include <sstream>

#include "support/text_cases.hpp"

namespace spdistal::testing {
namespace {

namespace fs = std::filesystem;
constexpr std::chrono::seconds limit(60);

std::string read(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  if (!file) throw std::runtime_error("cannot read " + path.string());
  return text.str();
}

Outcome ask(const fs::path& file, const TextCase& text_case) {
  return run_program(SPDISTAL_CLI, text_case.arguments, file.parent_path(), limit);
}

class Case : public ::testing::Test {
 public:
  Case(fs::path file, TextCase text_case) : file_(std::move(file)), case_(std::move(text_case)) {}

  void TestBody() override {
    Outcome outcome = ask(file_, case_);
    std::string changes = difference(expected_answer(case_), as_answer(outcome));
    if (outcome.timed_out)
      ADD_FAILURE_AT(file_.c_str(), int(case_.line)) << "not finished after " << limit.count() << " s";
    else if (!changes.empty())
      ADD_FAILURE_AT(file_.c_str(), int(case_.line))
          << case_.title << "\n-: expected, +: the tool's answer (golden_test --update takes it)\n"
          << changes;
  }

 private:
  fs::path file_;
  TextCase case_;
};

class Unreadable : public ::testing::Test {
 public:
  Unreadable(fs::path file, std::string why) : file_(std::move(file)), why_(std::move(why)) {}
  void TestBody() override { FAIL() << file_.string() << ": " << why_; }

 private:
  fs::path file_;
  std::string why_;
};

// Letters, digits and underscores, so that a filter can name it.
std::string test_name(std::string_view title) {
  std::string name;
  for (char c : title) {
    bool plain = std::isalnum(static_cast<unsigned char>(c)) || c == '/';
    if (plain) name += c;
    else if (!name.empty() && name.back() != '_') name += '_';
  }
  while (name.ends_with('_')) name.pop_back();
  return name;
}

void register_file(const fs::path& file) {
  std::string suite = test_name(fs::relative(file, SPDISTAL_TEXT_CASES).replace_extension().string());
  auto add = [&](const std::string& name, int line, auto make) {
    ::testing::RegisterTest(suite.c_str(), name.c_str(), nullptr, nullptr, file.c_str(), line,
                            [make]() -> ::testing::Test* { return make(); });
  };
  try {
    for (const TextCase& c : parse_text_cases(read(file)))
      add(test_name(c.title), int(c.line), [file, c] { return new Case(file, c); });
  } catch (const std::exception& error) {
    std::string why = error.what();
    add("is_well_formed", 1, [file, why] { return new Unreadable(file, why); });
  }
}

// The number of cases whose answer changed.
size_t update(const fs::path& file) {
  std::string text = read(file);
  std::vector<TextCase> cases = parse_text_cases(text);
  std::vector<std::string> answers;
  size_t changed = 0;
  for (const TextCase& c : cases) {
    Outcome outcome = ask(file, c);
    if (outcome.timed_out) throw std::runtime_error("line " + std::to_string(c.line) + ": the tool does not finish");
    answers.push_back(as_answer(outcome));
    changed += answers.back() != expected_answer(c);
  }
  if (changed) std::ofstream(file, std::ios::binary) << with_answers(text, cases, answers);
  return changed;
}

int update_all(const std::vector<fs::path>& files) {
  int status = 0;
  for (const fs::path& file : files) try {
      if (size_t changed = update(file)) std::printf("%s: %zu changed\n", file.c_str(), changed);
    } catch (const std::exception& error) {
      std::fprintf(stderr, "%s: %s\n", file.c_str(), error.what());
      status = 1;
    }
  return status;
}

}  // namespace
}  // namespace spdistal::testing

int main(int argc, char** argv) {
  using namespace spdistal::testing;
  ::testing::InitGoogleTest(&argc, argv);
  std::vector<std::filesystem::path> files;
  for (const char* folder : {"golden", "error"})
    for (auto& file : find_text_cases(std::filesystem::path(SPDISTAL_TEXT_CASES) / folder)) files.push_back(file);
  if (argc > 1 && std::string_view(argv[1]) == "--update") {
    if (argc > 2) files.clear();
    for (int i = 2; i < argc; i++) files.push_back(std::filesystem::absolute(argv[i]));
    return update_all(files);
  }
  if (argc > 1) {
    std::fprintf(stderr, "unknown argument %s: see the top of golden_test.cpp\n", argv[1]);
    return 2;
  }
  for (const auto& file : files) register_file(file);
  return RUN_ALL_TESTS();
}
