// Schedules from text: "divide(i, io, ii, M.x); distribute(io); communicate({a, B, c}, io)".
#pragma once
#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include "notation/concrete.hpp"
#include "notation/parse.hpp"
#include "spdistal/schedule/commands.hpp"

namespace spdistal::schedule {

/// What names in a schedule stand for: variables and tensors of the statement, and the machine M.
struct KnownNames {
  notation::ParseScope& scope;
  const Machine* machine = nullptr;
};

struct ParsedCommand {
  Command command;
  size_t begin, end;  // its place in the text
};
/// Errors are UserErrors that point at the place. Commands are separated by ';', the last may be followed by one.
std::vector<ParsedCommand> parse(std::string_view text, const KnownNames& names);

struct Scheduled {
  std::vector<Command> commands;
  notation::ConcreteStatement statement;
};
/// Reads and applies a schedule; a refused command is shown in the text and on the loops.
Scheduled apply_text(std::string_view text, const KnownNames& names, notation::ConcreteStatement statement);

}  // namespace spdistal::schedule
