#include "reference/element.hpp"

namespace spdistal::reference {

using notation::BinaryOp;

Element compute(BinaryOp op, const Element& a, const Element& b) {
  Scalar value = compute(op, a.value, b.value);
  switch (op) {
    case BinaryOp::Mul: return a.absent || b.absent ? nothing(value.type()) : Element{value};
    case BinaryOp::Div: return a.absent ? nothing(value.type()) : Element{value};
    default: return {value, a.absent && b.absent};
  }
}

Element compute(notation::Function function, const std::vector<Element>& args) {
  std::vector<Scalar> values;
  bool absent = true;
  for (const Element& arg : args) values.push_back(arg.value), absent &= arg.absent;
  Scalar value = compute(function, values);
  return {value, absent && is_zero(value)};
}

}  // namespace spdistal::reference
