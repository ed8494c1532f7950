// How values of one element come together in the runtime.
#pragma once
#include "notation/index_notation.hpp"
#include "runtime/transport/transport.hpp"

namespace spdistal {

/// Of truth values, the greatest is whether any holds, the least whether all do.
inline runtime::ReduceOp reduce_op(notation::AssignOp op) {
  using notation::AssignOp;
  switch (op) {
    case AssignOp::Mul: return runtime::ReduceOp::Product;
    case AssignOp::Min:
    case AssignOp::And: return runtime::ReduceOp::Min;
    case AssignOp::Max:
    case AssignOp::Or: return runtime::ReduceOp::Max;
    default: return runtime::ReduceOp::Sum;
  }
}

}  // namespace spdistal
