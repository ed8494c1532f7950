// Arithmetic on scalars, as C++ does it for the types at hand.
#pragma once
#include <vector>

#include "notation/index_notation.hpp"
#include "spdistal/scalar.hpp"

namespace spdistal::notation {

/// The value as another type (`base/convert.hpp`); complex to real takes the real part.
Scalar convert(const Scalar& value, ScalarType type);
Scalar zero(ScalarType type);
Scalar compute(BinaryOp op, const Scalar& a, const Scalar& b);
Scalar negate(const Scalar& a);
Scalar compute(Function function, const std::vector<Scalar>& args);
bool is_zero(const Scalar& value);
/// Is it other than zero?
bool truth(const Scalar& value);
/// The same number: 0 is -0, and what is no number is the same as any that is none.
bool same_number(const Scalar& a, const Scalar& b);

/// What a reduction of nothing gives: combined with it, every value of the type stays what it is.
Scalar identity(AssignOp op, ScalarType type);
/// The type that values of a type are put together in where the result takes them as they are: a sum wraps no sooner, and
/// is no less exact, than in the types of its terms and of the result.
ScalarType type_of_total(AssignOp op, ScalarType value, ScalarType result);
/// A value combined with what is there; of Set, the value.
Scalar compute(AssignOp op, const Scalar& there, const Scalar& value);

}  // namespace spdistal::notation
