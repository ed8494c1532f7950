// Refusals of scheduling commands: why, with the loop underlined, and what would work.
#pragma once
#include <string>

#include "notation/concrete.hpp"
#include "notation/print.hpp"
#include "spdistal/error.hpp"

namespace spdistal::schedule {

/// Names and refusals over one statement.
class Refusal {
 public:
  Refusal(std::string_view command, const notation::ConcreteStatement& statement);

  std::string name(const IndexVar& var) { return print_.name(var); }
  std::string name(const notation::TensorVar& tensor) { return print_.name(tensor); }
  std::string operator()(const notation::Access& access) { return print_(access); }
  std::string operator()(const notation::Expr& expr) { return print_(expr); }
  std::vector<std::string> loop_names();

  /// "command: message", with the loop over `at` underlined.
  Diagnostic at(const IndexVar& at, const std::string& message, std::string hint = {});
  /// The same without a place, showing all loops.
  Diagnostic whole(const std::string& message, std::string hint = {});

 private:
  std::string command_;
  const notation::ConcreteStatement& statement_;
  notation::Printer print_;
};

/// Refuses to touch a loop inside those that a routine of a library replaces.
Result<> check_outside_leaf(std::string_view command, const notation::ConcreteStatement& statement,
                            const IndexVar& loop);
/// Refuses to rewrite a loop about which something was decided: its tags would have no place to go.
Result<> check_untouched(std::string_view command, const notation::ConcreteStatement& statement, const IndexVar& loop);
/// What the range of a loop's variable changes with, as a refusal says it: "walks positions below each i", or "goes through
/// a block whose size io tells".
std::string changing_range(Refusal& names, const notation::ConcreteStatement& statement, const IndexVar& loop,
                           const IndexVar& with);
/// "distributed", "parallelized", …: what was decided about a loop first, or empty.
std::string decision(const notation::LoopTags& tags);

}  // namespace spdistal::schedule
