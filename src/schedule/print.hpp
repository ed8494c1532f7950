// Commands as text, from their lists of parameters. What is printed parses to the same command.
#pragma once
#include <string>
#include <vector>

#include "notation/print.hpp"
#include "spdistal/schedule/commands.hpp"

namespace spdistal::schedule {

/// "divide(i, io, ii, 4)". The printer gives the names: share it with what else is printed.
std::string print(const Command& command, notation::Printer& names);
/// The commands of a schedule, "; " between them.
std::string print(const std::vector<Command>& commands, notation::Printer& names);

/// "divide(i, outer, inner, pieces)" for every command: for help and for errors.
std::vector<std::string> signatures();

}  // namespace spdistal::schedule
