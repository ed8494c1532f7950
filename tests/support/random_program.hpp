// Random statements over random tensors: small whole numbers, so that sums are exact in any order.
#pragma once
#include <random>

#include "notation/index_notation.hpp"
#include "reference/array.hpp"

namespace spdistal::test {

struct RandomProgram {
  notation::Assignment assignment;
  reference::Arrays arrays;  // of every tensor, the result too
};

/// A statement of a long list, with formats, orders of dimensions, types, and sizes from 0 to 4 drawn at random.
RandomProgram draw_program(std::mt19937_64& random);

}  // namespace spdistal::test
