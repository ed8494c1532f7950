// A statement of index notation, evaluated straight from its definition: for every element on the left, the value of the
// right side, where a variable that stands on the right only is summed at the smallest sub-expression that holds all its
// uses. Sums move out of products, c * (x + y) is c * x + c * y, and a sum that the result takes is added up in the type of
// its terms and of the result, promoted.
//
// What is not stored (`Array::absent`), and a zero in the text, is zero for good (`element.hpp`). For numbers that are finite,
// and divisors other than zero, that is what arithmetic gives anyway.
#pragma once
#include "notation/index_notation.hpp"
#include "reference/array.hpp"

namespace spdistal::reference {

/// A reduction of nothing is not stored; or, as where it is kept in a temporary, it is.
enum class OfNothing : uint8_t { Absent, Stored };

/// Writes the result into arrays. Reads of the result see what it held before. Every tensor of the statement has an array,
/// and every variable one size. Tells which elements of the result come of what is not stored alone, by position.
std::vector<bool> evaluate(const notation::Assignment& assignment, Arrays& arrays,
                           OfNothing reductions = OfNothing::Absent);

}  // namespace spdistal::reference
