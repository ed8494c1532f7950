// Random machines, distributions of tensors over them, and distributed schedules.
#pragma once
#include <random>

#include "notation/concrete.hpp"
#include "support/random_schedule.hpp"

namespace spdistal::test {

/// Grids of one to three dimensions, and grids within grids; up to 28 pieces.
Machine draw_machine(std::mt19937_64& random);

/// The tensor, living on a machine: blocks, shares of the non-zeros, copies, fixed places, fused dimensions.
notation::TensorVar draw_placed(std::mt19937_64& random, const notation::TensorVar& tensor, const Machine& machine);

/// A schedule with distributed loops, where any loop can be: over coordinates or positions, of one or two dimensions of
/// pieces, in steps. One in three is odd: positions of several operands and below rows, fused with other loops, distributed
/// without being cut, rotated, and commands at random before and after. Pieces may be those of a machine.
RandomSchedule draw_distributed(std::mt19937_64& random, const notation::ConcreteStatement& statement,
                                const Machine* machine = nullptr);

}  // namespace spdistal::test
