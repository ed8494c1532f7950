// Random machines, distributions of tensors over them, and distributed schedules.
#pragma once
#include <random>

#include "notation/concrete.hpp"
#include "support/random_schedule.hpp"

namespace spdistal::test {

/// One to three dimensions, up to seven pieces.
Machine draw_machine(std::mt19937_64& random);

/// The tensor, living on a machine: blocks, shares of the non-zeros, copies, fixed places, fused dimensions.
notation::TensorVar draw_placed(std::mt19937_64& random, const notation::TensorVar& tensor, const Machine& machine);

/// A schedule with at least one distributed loop, where any loop can be distributed: coordinates or positions, one or two
/// dimensions of pieces, steps, and commands at random before.
RandomSchedule draw_distributed(std::mt19937_64& random, const notation::ConcreteStatement& statement);

}  // namespace spdistal::test
