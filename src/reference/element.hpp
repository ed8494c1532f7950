// An element of an expression: its value, and whether it is there at all. What is not stored, and a zero in the text, is zero
// for good: so are its products, whatever the other factor is, its quotients, and functions of nothing but such elements that
// are zero at zero. A sum leaves it out.
#pragma once
#include "reference/arithmetic.hpp"

namespace spdistal::reference {

struct Element {
  Scalar value;
  bool absent = false;
};

inline Element nothing(ScalarType type) { return {zero(type), true}; }
inline Element element_of(const notation::Literal& literal) { return {literal.value, is_zero(literal.value)}; }
inline Element negate(const Element& a) { return {negate(a.value), a.absent}; }
Element compute(notation::BinaryOp op, const Element& a, const Element& b);
Element compute(notation::Function function, const std::vector<Element>& args);

}  // namespace spdistal::reference
