// A statement as it was said: checked, its loops written out, and its schedule applied to them.
#pragma once
#include <string>
#include <vector>

#include "notation/concrete.hpp"
#include "notation/print.hpp"
#include "runtime/transport/transport.hpp"
#include "spdistal/schedule/commands.hpp"

namespace spdistal {

struct ScheduledStatement {
  notation::Assignment assignment;
  notation::ConcreteStatement initial;  // before any command
  notation::ConcreteStatement scheduled;
  std::vector<Command> commands = {};
};

/// Checks and concretises a statement. `+=` to a sparse tensor means that what it holds is an operand. Throws UserError.
ScheduledStatement make_statement(const notation::Assignment& assignment);
/// The statement, its loops, and its loops after the schedule.
std::string print_statement(const ScheduledStatement& statement, notation::Printer& names);
/// Collective. Throws UserError on all ranks, naming one, where they do not mean the same statement: its text, schedule,
/// sizes, formats, types and distributions.
void agree_on(runtime::Transport& transport, const ScheduledStatement& statement);

}  // namespace spdistal
