// Statements and schedules of the public face.
#include "api/state.hpp"
#include "compile/print.hpp"
#include "notation/check.hpp"
#include "schedule/apply.hpp"
#include "schedule/print.hpp"

namespace spdistal {

StatementState say(const notation::Assignment& assignment) {
  StatementState out{make_statement(assignment)};
  const notation::Assignment& meant = out.assignment;
  out.arguments = notation::arguments(meant.rhs);
  for (const notation::TensorVar& tensor : notation::tensors(meant))
    if (auto state = find_tensor(tensor); state && tensor != meant.lhs.tensor) out.operands.push_back(state);
  // What lies outside of a window stays.
  out.reads_result = out.initial.start == notation::Start::Old || out.part;
  each<notation::Access>(meant.rhs,
                         [&](const notation::Access& a) { out.reads_result |= a.tensor == meant.lhs.tensor; });
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
  state_->execution.reset();
  return *this;
}

std::vector<Command> Schedule::commands() const { return state_->commands; }

std::string Schedule::str() const {
  notation::Printer names;
  names(state_->scheduled);
  return schedule::print(state_->commands, names);
}

}  // namespace spdistal
