// Errors as a user sees them: what is wrong, where it stands (underlined), and what would be right.
#pragma once
#include <cstddef>
#include <stdexcept>
#include <string>
#include <vector>

namespace spdistal {

/// A piece of text with the part [begin, end) that an error is about. The text may have several lines; an empty part
/// (begin == end) marks the place between two characters, one beyond the text marks nothing.
struct Excerpt {
  std::string text;
  size_t begin = 0, end = 0;

  bool operator==(const Excerpt&) const = default;
};

/// Everything an error has to say. `hint` names the nearest thing that would work, or is empty.
struct Diagnostic {
  std::string message;
  std::vector<Excerpt> excerpts;
  std::string hint;

  /// The whole text: "error: …", each excerpt indented with its part underlined, "hint: …".
  std::string str() const;
  bool operator==(const Diagnostic&) const = default;
};

/// Base of everything spdistal throws.
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The input is wrong: a statement, a schedule, a file, an argument. The command line answers it with exit code 2.
class UserError : public Error {
 public:
  explicit UserError(Diagnostic d) : Error(d.str()), diagnostic_(std::move(d)) {}
  explicit UserError(std::string message, std::string hint = {})
      : UserError(Diagnostic{std::move(message), {}, std::move(hint)}) {}
  const Diagnostic& diagnostic() const { return diagnostic_; }

 private:
  Diagnostic diagnostic_;
};

/// spdistal itself is wrong: a broken invariant, in any build.
class InternalError : public Error {
 public:
  using Error::Error;
};

/// Something outside failed (compiler, MPI, CUDA, file system); carries the command that was run and its log.
class SystemError : public Error {
 public:
  SystemError(const std::string& message, std::string command, std::string log)
      : Error(message + (command.empty() ? "" : "\n  command: " + command) + (log.empty() ? "" : "\n" + log)),
        command_(std::move(command)),
        log_(std::move(log)) {}
  explicit SystemError(const std::string& message) : SystemError(message, {}, {}) {}
  const std::string& command() const { return command_; }
  const std::string& log() const { return log_; }

 private:
  std::string command_, log_;
};

}  // namespace spdistal
