// flatten: a loop over segments that follow each other, each walked by a loop that does not ask which segment it is in,
// becomes one loop over all of them.
//
//   requires  nothing
//   ensures   nothing
//
//   for i in a .. b                               if a < b
//     for p in B_pos[i] .. B_pos[i + 1]     →       for p in B_pos[a] .. B_pos[b]
//       counts[B_crd[p]] += 1                         counts[B_crd[p]] += 1
//
// Segments are short, and every end of one is a branch that is guessed wrong.
#include <set>

#include "ir/analysis.hpp"
#include "ir/build.hpp"
#include "ir/substitute.hpp"
#include "passes/pass.hpp"

namespace spdistal::passes {

using namespace ir;

namespace {

// The array that a loop's bounds are read from, as they are at `at`.
std::optional<Var> segments_at(const Expr& bound, const Var& at) {
  auto* cast = bound.as<Cast>();
  auto* load = (cast ? cast->value : bound).as<Load>();
  if (!load || load->lanes != 1 || !(load->index == Expr(at))) return std::nullopt;
  return load->array;
}

bool is_simple(const Expr& e) { return e.is<Var>() || e.is<Literal>(); }

bool runs_in_order(const For& n) { return n.kind == LoopKind::Serial && constant_integer(n.step) == 1; }

}  // namespace

Function flatten(const Function& f, const Target&) {
  // Positions ascend; those of results are not there yet.
  std::set<Symbol> positions;
  for (const Param& p : f.params)
    if (p.source.field == Source::Field::Segments && p.var.type.form == Type::Form::ConstArray)
      positions.insert(p.var.symbol);

  Stmt body = rewrite(f.body, [&](const For& outer) -> Stmt {
    Stmt only = outer.body;
    while (auto* block = only.as<Block>()) {
      if (block->stmts.size() != 1) return outer;
      only = Stmt(block->stmts[0]);
    }
    auto* inner = only.as<For>();
    if (!inner || !runs_in_order(outer) || !runs_in_order(*inner) || outer.unroll != 1) return outer;
    std::optional<Var> segments = segments_at(inner->lo, outer.var);
    if (!segments || !positions.contains(segments->symbol)) return outer;
    if (!(inner->hi == substitute(inner->lo, {{outer.var.symbol, Expr(outer.var) + 1}}))) return outer;
    bool breaks = false;
    each<Break>(inner->body, [&](const Break&) { breaks = true; });
    if (breaks || uses(inner->body).contains(outer.var.symbol) || !is_simple(outer.lo) || !is_simple(outer.hi))
      return outer;
    For all = *inner;
    all.lo = substitute(inner->lo, {{outer.var.symbol, outer.lo}});
    all.hi = substitute(inner->lo, {{outer.var.symbol, outer.hi}});
    return If{outer.lo < outer.hi, all, std::nullopt};
  });
  return {f.name, f.params, body};
}

}  // namespace spdistal::passes
