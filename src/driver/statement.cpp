// Statements and schedules of the public face.
#include <fmt/format.h>

#include "base/text.hpp"
#include "driver/state.hpp"
#include "notation/check.hpp"
#include "notation/concretize.hpp"
#include "schedule/apply.hpp"
#include "schedule/print.hpp"

namespace spdistal {

StatementState make_statement(const notation::Assignment& assignment) {
  notation::check(assignment).value();
  notation::Assignment meant = assignment;
  // A += e with sparse A is A = A + e: entries of e may be new.
  if (assignment.op == notation::AssignOp::Add && !assignment.lhs.tensor.format().is_dense())
    meant = {assignment.lhs, notation::AssignOp::Set,
             notation::Binary{notation::BinaryOp::Add, assignment.lhs, assignment.rhs}};
  notation::ConcreteStatement concrete = notation::concretize(meant).value();
  StatementState out{meant, concrete, concrete};
  for (const notation::TensorVar& tensor : notation::tensors(meant))
    if (auto state = find_tensor(tensor); state && tensor != meant.lhs.tensor) out.operands.push_back(state);
  return out;
}

std::string print_statement(const StatementState& statement, notation::Printer& names) {
  std::string out = fmt::format("statement\n{}\n", indent(names(statement.assignment), 2));
  out += fmt::format("\nloops\n{}\n", indent(names(statement.initial), 2));
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

Schedule Statement::schedule() const { return Schedule(state_); }

std::string Statement::str() const {
  notation::Printer names;
  return print_statement(*state_, names);
}

Schedule& Schedule::add(Command command) {
  state_->scheduled = schedule::apply(command, state_->scheduled).value();
  state_->commands.push_back(std::move(command));
  state_->compiled.reset();
  state_->chosen.reset();
  state_->copies.clear();
  return *this;
}

const std::vector<Command>& Schedule::commands() const { return state_->commands; }

std::string Schedule::str() const {
  notation::Printer names;
  names(state_->scheduled);
  return schedule::print(state_->commands, names);
}

}  // namespace spdistal
