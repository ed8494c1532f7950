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

/// Draws up to `attempts` commands of every kind in the registry. `accepted` counts what was applied, by command.
RandomSchedule draw_schedule(std::mt19937_64& random, notation::ConcreteStatement statement, int attempts,
                             std::map<std::string, int>* accepted = nullptr);

}  // namespace spdistal::test
