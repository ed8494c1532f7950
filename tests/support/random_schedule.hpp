// Random legal schedules: commands drawn at random, kept where they are accepted.
#pragma once
#include <map>
#include <random>
#include <string>
#include <vector>

#include "notation/concrete.hpp"
#include "spdistal/schedule/commands.hpp"

namespace spdistal::test {

struct RandomSchedule {
  std::vector<Command> commands;
  notation::ConcreteStatement statement;  // after the commands
};

/// A variable for a command to make: mostly without a name, sometimes with one that others have or nearly have.
IndexVar new_variable(std::mt19937_64& random);
/// Takes a command where it is accepted; says whether it was.
bool try_command(RandomSchedule& schedule, const Command& command);
/// Draws so many commands of every kind in the registry and takes those that are accepted. With a machine, numbers of
/// pieces may be dimensions of it.
void add_commands(std::mt19937_64& random, RandomSchedule& schedule, int attempts, const Machine* machine = nullptr);

/// Runs some loop in vectors, with loops inside it or not, where one can be.
void add_vectors(std::mt19937_64& random, RandomSchedule& schedule);

/// Draws up to `attempts` commands of every kind in the registry, and vectors at times. `accepted` counts what was applied, by command.
RandomSchedule draw_schedule(std::mt19937_64& random, notation::ConcreteStatement statement, int attempts,
                             std::map<std::string, int>* accepted = nullptr);

}  // namespace spdistal::test
