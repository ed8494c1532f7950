// pairs: a loop that adds up numbers, and may keep sums apart, takes two turns at a time, with a sum for each.
//
//   requires  nothing
//   ensures   the same sums up to the order of their terms
//
//   for p in lo .. hi unroll 2                      const p_begin = lo, p_last = hi - 1
//     sum = sum + B[p] * c[B_crd[p]]          →     var sum2: double = 0.0
//                                                   for p in p_begin .. p_last step 2
//                                                     sum = sum + B[p] * c[B_crd[p]]
//                                                     sum2 = sum2 + B[p + 1] * c[B_crd[p + 1]]
//                                                   if (p_last - p_begin + 1) % 2 == 1
//                                                     sum = sum + B[p_last] * c[B_crd[p_last]]
//                                                   sum = sum + sum2
//
// Every addition waits for the one before: a row of ten takes forty cycles, in which processors would have asked for the rows that
// follow. Four sums at a time are slower where rows are short (docs/performance.md).
#include <algorithm>
#include <functional>

#include "ir/analysis.hpp"
#include "ir/build.hpp"
#include "ir/substitute.hpp"
#include "passes/pass.hpp"

namespace spdistal::passes {

using namespace ir;

namespace {

bool has_fractions(const Type& type) {
  return type == value_of(ScalarType::Float32) || type == value_of(ScalarType::Float64);
}

// The variable that a turn adds a value to, where it does nothing else.
std::optional<Var> sum_of(const Stmt& body) {
  std::optional<Var> sum;
  bool legal = true;
  std::function<void(const Stmt&)> look = [&](const Stmt& s) {
    auto* declared = s.as<Declare>();
    auto* assign = s.as<Assign>();
    auto* value = assign ? assign->value.as<Binary>() : nullptr;
    if (auto* block = s.as<Block>()) {
      std::ranges::for_each(block->stmts, look);
    } else if (auto* where = s.as<If>(); where && !where->otherwise) {
      look(where->then);
    } else if (value) {
      legal &= value->op == BinaryOp::Add && value->a == Expr(assign->var) && !sum;
      sum = assign->var;
    } else {
      legal &= s.is<Comment>() || (declared && declared->mutability == Mutability::Const);
    }
  };
  look(body);
  return legal && sum && has_fractions(sum->type) && uses(body)[sum->symbol] == 1 ? sum : std::nullopt;
}

}  // namespace

Function pairs(const Function& f, const Target&) {
  Stmt body = rewrite(f.body, [](const For& n) -> Stmt {
    if (n.kind != LoopKind::Serial || n.unroll < 2 || constant_integer(n.step) != 1 || trip_count(n)) return n;
    std::optional<Var> sum = sum_of(n.body);
    if (!sum) return n;
    const std::string& name = n.var.symbol.name();
    Var begin = var(name + "_begin", n.var.type), last = var(name + "_last", n.var.type);
    Var other = var(sum->symbol.name() + "2", sum->type);
    // The turn at a position, added to a sum.
    auto turn = [&](const Expr& p, const Var& to) {
      return with_fresh_variables(
          substitute(rewrite(n.body,
                             [&](const Assign& a) -> Stmt {
                               return Assign{to, binary(BinaryOp::Add, to, a.value.as<Binary>()->b)};
                             }),
                     {{n.var.symbol, p}}));
    };
    Var p = var(name, n.var.type);
    Expr two = literal(ir::Scalar::integer(n.var.type.scalar, 2));
    Stmt both = Block{{turn(p, *sum), turn(Expr(p) + 1, other)}};
    return Block{{declare(begin, cast(n.var.type.scalar, n.lo)), declare(last, cast(n.var.type.scalar, n.hi) - 1),
                  Declare{other, zero(other.type), Mutability::Mutable}, For{p, begin, last, two, both},
                  If{equal((Expr(last) - begin + 1) % 2, 1), turn(last, *sum), {}}, Assign{*sum, Expr(*sum) + other}}};
  });
  return {f.name, f.params, body};
}

}  // namespace spdistal::passes
