// Arithmetic on scalars, as C++ does it for the types at hand.
#pragma once
#include "notation/index_notation.hpp"
#include "spdistal/scalar.hpp"

namespace spdistal::reference {

/// The value as another type, as a C++ conversion gives it; complex to real takes the real part.
Scalar convert(const Scalar& value, ScalarType type);
Scalar zero(ScalarType type);
Scalar compute(notation::BinaryOp op, const Scalar& a, const Scalar& b);
Scalar negate(const Scalar& a);
Scalar compute(notation::Function function, const std::vector<Scalar>& args);
bool is_zero(const Scalar& value);

}  // namespace spdistal::reference
