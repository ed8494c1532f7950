// What the handles of the public face point to.
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "notation/concrete.hpp"
#include "notation/print.hpp"
#include "spdistal/expression.hpp"
#include "spdistal/schedule.hpp"

namespace spdistal {

struct StatementState {
  notation::Assignment assignment;
  notation::ConcreteStatement initial;  // before any command
  notation::ConcreteStatement scheduled;
  std::vector<Command> commands = {};
};

struct TensorState {
  notation::TensorVar var;
  std::shared_ptr<StatementState> current = nullptr;  // the statement that was assigned last
};

/// Checks and concretises a statement. Throws UserError.
StatementState make_statement(const notation::Assignment& assignment);
/// The statement, its loops, and its loops after the schedule.
std::string print_statement(const StatementState& statement, notation::Printer& names);

}  // namespace spdistal
