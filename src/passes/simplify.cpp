// simplify: operations on constants, exact identities, branches that are decided, loops that run never or once.
//
//   requires  nothing
//   ensures   no operation has literals alone as operands; no If has a literal as condition; no Block stands directly
//   in
//             a Block without need
//
//   for i in 0 .. 1            a[0] = x * 3
//     if 2 < 3           →
//       a[i + 0] = x * 1 * 3
//
// Floats keep their value to the last bit: x * 0 and x + 0 stay (see ir/fold.hpp).
#include "ir/analysis.hpp"
#include "ir/build.hpp"
#include "ir/fold.hpp"
#include "ir/substitute.hpp"
#include "passes/pass.hpp"

namespace spdistal::passes {

using namespace ir;

namespace {

bool declares(const Stmt& s) { return s.is<Declare>() || s.is<Allocate>(); }

bool breaks(const Stmt& s) {
  bool found = false;
  each<Break>(s, [&](const Break&) { found = true; });
  return found;
}

/// A block within a block is a scope: it goes where nothing ends with it (memory) and nothing else has its variables.
bool needs_scope(const Block& inner, const std::vector<Stmt>& outer, size_t at) {
  std::set<Symbol> own;
  for (const Stmt& s : inner.stmts) {
    if (s.is<Allocate>()) return true;
    if (auto* n = s.as<Declare>()) own.insert(n->var.symbol);
  }
  for (size_t k = 0; k < outer.size() && !own.empty(); k++)
    if (k != at)
      for (const Symbol& s : declared_in(outer[k]))
        if (own.contains(s)) return true;
  return false;
}

Stmt simplify_block(const Block& n) {
  std::vector<Stmt> out;
  for (size_t at = 0; at < n.stmts.size(); at++) {
    auto* inner = n.stmts[at].as<Block>();
    if (!inner || needs_scope(*inner, n.stmts, at)) out.push_back(n.stmts[at]);
    else out.insert(out.end(), inner->stmts.begin(), inner->stmts.end());
  }
  if (out.size() == 1 && !declares(out[0])) return out[0];
  if (out == n.stmts) return n;
  return Block{std::move(out)};
}

}  // namespace

Function simplify(const Function& f, const Target& target) {
  Stmt body = rewrite(
      f.body, [](const Binary& n) { return fold(n); }, [](const Unary& n) { return fold(n); },
      [](const Cast& n) { return fold(n); }, [](const Select& n) { return fold(n); },
      [](const Block& n) { return simplify_block(n); },
      [](const If& n) -> Stmt {
        if (const ir::Scalar* cond = constant(n.cond)) {
          Stmt taken = cond->as<bool>() ? n.then : n.otherwise.value_or(Block{});
          return declares(taken) ? Stmt(Block{{taken}}) : taken;
        }
        if (n.otherwise && is_empty(*n.otherwise)) return If{n.cond, n.then, {}};
        if (n.otherwise && is_empty(n.then)) return If{fold(Unary{UnaryOp::Not, n.cond}), *n.otherwise, {}};
        return n;
      },
      [&](const For& n) -> Stmt {
        auto trips = trip_count(n);
        if (is_gpu(n.kind)) return n;
        // From x to x + 1 it is one turn, whatever x is.
        if (constant_integer(binary(BinaryOp::Sub, n.hi, n.lo)) == 1) trips = 1;
        if (trips == 0) return Block{};
        if (trips == 1 && !breaks(n.body)) {
          Stmt once = substitute(n.body, {{n.var.symbol, n.lo}});
          // What became constant by that is folded too.
          once = simplify(Function{f.name, f.params, once}, target).body;
          return declares(once) ? Stmt(Block{{once}}) : once;
        }
        return n;
      },
      [](const While& n) -> Stmt {
        const ir::Scalar* cond = constant(n.cond);
        return cond && !cond->as<bool>() ? Stmt(Block{}) : Stmt(n);
      });
  return {f.name, f.params, body};
}

}  // namespace spdistal::passes
