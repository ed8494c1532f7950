// Random statements over random tensors: small whole numbers, so that sums are exact in any order.
#pragma once
#include <random>

#include "notation/index_notation.hpp"
#include "reference/array.hpp"
#include "support/features.hpp"

namespace spdistal::test {

struct RandomProgram {
  notation::Assignment assignment;
  reference::Arrays arrays;  // of every tensor, the result too
};

/// A statement, with formats, orders of dimensions, types, sizes from 0 to 5 and values drawn at random: empty tensors,
/// stored zeros, infinities and what is no number among them. It is accepted by `make_statement`.
/// Programs with some of these features are left out.
RandomProgram draw_program(std::mt19937_64& random, const Features& without = open_faults());
/// The same of numbers that stay finite, so that any order of evaluation gives the same.
RandomProgram draw_finite_program(std::mt19937_64& random);

}  // namespace spdistal::test
