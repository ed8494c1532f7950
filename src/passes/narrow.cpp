// narrow: loops between bounds of 32 bits count with 32 bits.
//
//   requires  nothing
//   ensures   a loop whose bounds are both widened from 32 bits, and whose step is 1, has a variable of 32 bits
//
//   for p: int64 in int64(pos[i]) .. int64(pos[i + 1])         for p: int32 in pos[i] .. pos[i + 1]
//     sum = sum + B[p] * c[crd[p]]                       →       sum = sum + B[int64(p)] * c[crd[int64(p)]]
//
// The variable never exceeds its bound, and neither does it plus 1. Short loops, such as those over the rows of a sparse
// matrix, are a few hundredths faster so: the bound need not be widened before the first turn.
#include "ir/analysis.hpp"
#include "ir/build.hpp"
#include "ir/substitute.hpp"
#include "passes/pass.hpp"

namespace spdistal::passes {

using namespace ir;

namespace {

/// The 32-bit number that an expression widens.
std::optional<Expr> widened(const Expr& e) {
  auto* cast = e.as<Cast>();
  if (!cast || cast->type != ScalarType::Int64 || type_of(cast->value) != value_of(ScalarType::Int32)) return {};
  return cast->value;
}

}  // namespace

Function narrow(const Function& f, const Target&) {
  Stmt body = rewrite(f.body, [](const For& n) -> Stmt {
    auto lo = widened(n.lo), hi = widened(n.hi);
    if (!lo || !hi || n.var.type.scalar != ScalarType::Int64 || constant_integer(n.step) != 1) return n;
    if (n.kind != LoopKind::Serial && n.kind != LoopKind::Vector) return n;
    Var v = var(n.var.symbol.name(), value_of(ScalarType::Int32));
    Expr wide = Cast{ScalarType::Int64, v};
    Stmt inner = rewrite(substitute(n.body, {{n.var.symbol, wide}}), [&](const Binary& b) -> Expr {
      if (b.op == BinaryOp::Add && b.a == wide && constant_integer(b.b) == 1)
        return Cast{ScalarType::Int64, binary(BinaryOp::Add, v, literal(ir::Scalar::integer(ScalarType::Int32, 1)))};
      return b;
    });
    return For{v, *lo, *hi, literal(ir::Scalar::integer(ScalarType::Int32, 1)), inner, n.kind, n.unroll};
  });
  return {f.name, f.params, body};
}

}  // namespace spdistal::passes
