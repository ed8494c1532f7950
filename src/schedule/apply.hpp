// Applying scheduling commands to a concrete statement. A schedule is a list of commands: data that can be printed,
// stored and replayed; a command that would change what the statement means is refused.
#pragma once
#include <vector>

#include "notation/concrete.hpp"
#include "spdistal/result.hpp"
#include "spdistal/schedule/commands.hpp"

namespace spdistal::schedule {

/// What is common to all commands (loops that must exist, names that must be new), then the command's own check, then
/// the command. The statement that comes back passes `verify`.
Result<notation::ConcreteStatement> apply(const Command& command, const notation::ConcreteStatement& statement);

/// All commands in order; the first refusal ends it.
Result<notation::ConcreteStatement> apply(const std::vector<Command>& commands, notation::ConcreteStatement statement);

}  // namespace spdistal::schedule
