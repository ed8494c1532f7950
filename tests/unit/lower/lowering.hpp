// Statements on their way to a kernel, for tests: from text, with formats and a schedule.
#pragma once
#include <string>
#include <vector>

#include "lower/bind.hpp"
#include "lower/workspace.hpp"
#include "notation/concretize.hpp"
#include "schedule/parse.hpp"
#include "unit/notation/statements.hpp"

namespace spdistal::lower {

struct TextLowering {
  notation::TextStatement text;
  notation::ConcreteStatement statement;
  Options options;
  Context c;
  Scope s;

  explicit TextLowering(std::string_view words, const std::vector<std::string>& formats = {},
                        std::string_view schedule = "", Options with = {})
      : text(words, formats),
        statement(insert_workspace(scheduled(text, schedule))),
        options(std::move(with)),
        c(statement, options),
        s(outermost(c)) {}

  /// The outermost loop.
  notation::Forall outer() const { return *statement.body.as<notation::Forall>(); }

 private:
  static notation::ConcreteStatement scheduled(notation::TextStatement& text, std::string_view schedule) {
    notation::ConcreteStatement loops = notation::concretize(text.assignment).value();
    return schedule::apply_text(schedule, {text.scope}, loops).statement;
  }
};

}  // namespace spdistal::lower
