// An element of an expression: its value, and whether it is there at all. What is not stored, and a zero in the text, is zero
// for good: so are its products, whatever the other factor is, its quotients, and functions of nothing but such elements that
// are zero at zero. A sum leaves it out.
#pragma once
#include "reference/arithmetic.hpp"

namespace spdistal::reference {

struct EvaluatedElement {
  Scalar value;
  bool absent = false;
};

inline EvaluatedElement nothing(ScalarType type) { return {zero(type), true}; }
inline EvaluatedElement element_of(const notation::Literal& literal) { return {literal.value, is_zero(literal.value)}; }
inline EvaluatedElement negate(const EvaluatedElement& a) { return {negate(a.value), a.absent}; }
EvaluatedElement compute(notation::BinaryOp op, const EvaluatedElement& a, const EvaluatedElement& b);
EvaluatedElement compute(notation::Function function, const std::vector<EvaluatedElement>& args);

}  // namespace spdistal::reference
