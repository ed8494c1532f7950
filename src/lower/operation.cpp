#include "lower/operation.hpp"

#include "base/require.hpp"

namespace spdistal::lower {

using notation::AssignOp;

namespace {

struct Operation {
  AssignOp op;
  ir::BinaryOp combine;
  ir::StoreMode atomic;
};

const Operation& operation(AssignOp op) {
  static constexpr Operation all[] = {{AssignOp::Add, ir::BinaryOp::Add, ir::StoreMode::AtomicAdd},
                                      {AssignOp::Mul, ir::BinaryOp::Mul, ir::StoreMode::AtomicMul},
                                      {AssignOp::Min, ir::BinaryOp::Min, ir::StoreMode::AtomicMin},
                                      {AssignOp::Max, ir::BinaryOp::Max, ir::StoreMode::AtomicMax},
                                      {AssignOp::Or, ir::BinaryOp::Or, ir::StoreMode::AtomicOr},
                                      {AssignOp::And, ir::BinaryOp::And, ir::StoreMode::AtomicAnd}};
  require(op != AssignOp::Set, "what is set is not combined with anything");
  return all[size_t(op) - 1];
}

}  // namespace

ir::Expr combine(AssignOp op, const ir::Expr& there, const ir::Expr& value) {
  return ir::binary(operation(op).combine, there, value);
}

ir::Expr taken_as(ScalarType type, const ir::Expr& value) {
  ir::Type from = ir::type_of(value);
  return type == ScalarType::Bool && is_complex(from.scalar) ? ir::differ(value, ir::zero(from))
                                                             : ir::cast(type, value);
}

ir::StoreMode atomic_mode(AssignOp op) { return operation(op).atomic; }

bool has_atomic(AssignOp op, ScalarType type) {
  bool logical = op == AssignOp::Or || op == AssignOp::And;
  return logical == (type == ScalarType::Bool) && (op == AssignOp::Add || !is_complex(type));
}

}  // namespace spdistal::lower
