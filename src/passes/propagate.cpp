// propagate: a constant that is a copy of another, or a literal, is replaced by that; a short one that is used once,
// nearby, is written where it is used.
//
//   requires  nothing
//   ensures   no constant is declared as a literal or as a copy of a constant
//
//   const n: int32 = 32
//   const j: int32 = B_crd[p]     →     sum = sum + c[B_crd[p] * 32]
//   sum = sum + c[j * n]
//
// "Nearby": a later statement of the same block, not inside a loop (it would be computed again), with nothing between
// that changes what it reads.
#include "ir/analysis.hpp"
#include "ir/build.hpp"
#include "ir/substitute.hpp"
#include "passes/pass.hpp"

namespace spdistal::passes {

using namespace ir;

namespace {

constexpr int short_size = 3;

bool has_loop(const Stmt& s) {
  bool found = false;
  each<For>(s, [&](const For&) { found = true; });
  each<While>(s, [&](const While&) { found = true; });
  each<Parallel>(s, [&](const Parallel&) { found = true; });
  each<Define>(s, [&](const Define&) { found = true; });  // it may be performed any number of times
  return found;
}

int count_in(const std::vector<Stmt>& stmts, size_t from, const Symbol& symbol) {
  int n = 0;
  for (size_t k = from; k < stmts.size(); k++) each<Var>(stmts[k], [&](const Var& v) { n += v.symbol == symbol; });
  return n;
}

/// May stmts[at], a declaration used once, be written where it is used?
bool may_inline(const std::vector<Stmt>& stmts, size_t at) {
  const Declare& d = *stmts[at].as<Declare>();
  if (takes_warp(d.init)) return false;  // where it is used not all lanes may come
  if (size(d.init) > short_size || count_in(stmts, at + 1, d.var.symbol) != 1) return false;
  for (size_t k = at + 1; k < stmts.size(); k++) {
    bool here = count_in({stmts[k]}, 0, d.var.symbol) == 1;
    if (here && stmts[k].is<For>()) {
      // A loop's bounds are computed once, before it.
      const For& loop = *stmts[k].as<For>();
      int bounds = 0;
      for (const Expr& e : {loop.lo, loop.hi}) each<Var>(e, [&](const Var& v) { bounds += v.symbol == d.var.symbol; });
      return bounds == 1;
    }
    if (here) {
      // Within a statement, what it changes comes after what it reads only where it is a simple one.
      bool simple = stmts[k].is<Declare>() || stmts[k].is<Assign>() || stmts[k].is<Store>();
      return simple || (!has_loop(stmts[k]) && !changes(stmts[k]).touches(d.init));
    }
    if (changes(stmts[k]).touches(d.init)) return false;
  }
  return false;
}

Stmt propagate_in(const Block& n, const std::set<Symbol>& constants) {
  std::vector<Stmt> stmts = n.stmts;
  bool changed = false;
  for (size_t at = 0; at < stmts.size(); at++) {
    auto* d = stmts[at].as<Declare>();
    if (!d || d->mutability == Mutability::Mutable) continue;
    auto* copied = d->init.as<Var>();
    bool copy = d->init.is<Literal>() || (copied && constants.contains(copied->symbol));
    if (!copy && !may_inline(stmts, at)) continue;
    std::map<Symbol, Expr> by{{d->var.symbol, d->init}};
    for (size_t k = at + 1; k < stmts.size(); k++) stmts[k] = substitute(stmts[k], by);
    stmts.erase(stmts.begin() + long(at--));
    changed = true;
  }
  return changed ? Stmt(Block{std::move(stmts)}) : Stmt(n);
}

}  // namespace

Function propagate(const Function& f, const Target&) {
  std::set<Symbol> constants;
  for (const Param& p : f.params) constants.insert(p.var.symbol);
  each<Declare>(f.body, [&](const Declare& n) {
    if (n.mutability == Mutability::Const) constants.insert(n.var.symbol);
  });
  each<For>(f.body, [&](const For& n) { constants.insert(n.var.symbol); });
  each<Parallel>(f.body, [&](const Parallel& n) { constants.insert(n.share.symbol); });
  each<Define>(f.body, [&](const Define& n) {
    for (const Var& value : n.values) constants.insert(value.symbol);
  });
  return {f.name, f.params, rewrite(f.body, [&](const Block& n) { return propagate_in(n, constants); })};
}

}  // namespace spdistal::passes
