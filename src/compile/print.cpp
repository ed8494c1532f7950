#include "compile/print.hpp"

#include <fmt/format.h>

#include "base/text.hpp"
#include "compile/choose.hpp"
#include "schedule/print.hpp"

namespace spdistal {

std::string print_statement(const ScheduledStatement& statement, notation::Printer& names) {
  std::string out = fmt::format("statement\n{}\n", indent(names(statement.assignment), 2));
  std::string initial = names(statement.initial);
  if (statement.part)  // and then
    initial +=
        "\n" + names(notation::Assignment{statement.assignment.lhs, statement.assignment.op, statement.part->lhs});
  out += fmt::format("\nloops\n{}\n", indent(initial, 2));
  if (!statement.commands.empty()) {
    // The scheduled loops first: they choose the names that the commands then use.
    std::string loops = names(statement.scheduled);
    std::string commands = join(statement.commands, "\n", [&](const Command& c) { return schedule::print(c, names); });
    out += fmt::format("\nschedule\n{}\n\nscheduled loops\n{}\n", indent(commands, 2), indent(loops, 2));
  }
  if (Chosen chosen = choose(statement); !chosen.conversions.empty())
    out += fmt::format("\nconversions\n{}\n\nloops over them\n{}\n", indent(print(chosen.conversions, names), 2),
                       indent(names(chosen.statement), 2));
  return out;
}

}  // namespace spdistal
