// How to run a statement: scheduling commands, one after the other.
//
//   a.schedule().divide(i, io, ii, M.x).distribute(io).communicate({a, B, c}, io).parallelize(ii, CPUThread);
#pragma once
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "spdistal/schedule/commands.hpp"

namespace spdistal {

/// The schedule of one statement; every command of the registry is a method. A command is checked and applied when it is
/// added, and throws UserError, with the loop underlined, where it would change what the statement means.
class Schedule : public detail::FluentCommands<Schedule, Command> {
 public:
  explicit Schedule(std::shared_ptr<StatementState> state) : state_(std::move(state)) {}

  Schedule& add(Command command);
  /// The commands so far: data that can be kept and added to another statement's schedule.
  std::vector<Command> commands() const;
  /// "divide(i, io, ii, M.x); distribute(io)".
  std::string str() const;

 private:
  std::shared_ptr<StatementState> state_;
};

}  // namespace spdistal
