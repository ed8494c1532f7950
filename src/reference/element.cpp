#include "reference/element.hpp"

namespace spdistal::reference {

using notation::BinaryOp;

EvaluatedElement compute(BinaryOp op, const EvaluatedElement& a, const EvaluatedElement& b) {
  Scalar value = compute(op, a.value, b.value);
  switch (op) {
    case BinaryOp::Mul: return a.absent || b.absent ? nothing(value.type()) : EvaluatedElement{value};
    case BinaryOp::Div: return a.absent ? nothing(value.type()) : EvaluatedElement{value};
    default: return {value, a.absent && b.absent};
  }
}

EvaluatedElement compute(notation::Function function, const std::vector<EvaluatedElement>& args) {
  std::vector<Scalar> values;
  bool absent = true;
  for (const EvaluatedElement& arg : args) values.push_back(arg.value), absent &= arg.absent;
  Scalar value = compute(function, values);
  return {value, absent && is_zero(value)};
}

}  // namespace spdistal::reference
