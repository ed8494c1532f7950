// The operations by which values are put together, in kernel IR.
#pragma once
#include "ir/build.hpp"
#include "notation/index_notation.hpp"

namespace spdistal::lower {

/// What is there combined with a value of the same type.
ir::Expr combine(notation::AssignOp op, const ir::Expr& there, const ir::Expr& value);
/// A value in the type that it is put together in; as a truth value, whether it is other than zero.
ir::Expr taken_as(ScalarType type, const ir::Expr& value);
/// How threads do it together, and whether they can.
ir::StoreMode atomic_mode(notation::AssignOp op);
bool has_atomic(notation::AssignOp op, ScalarType type);

}  // namespace spdistal::lower
