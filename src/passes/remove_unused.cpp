// remove_unused: what nobody looks at goes: constants, variables, allocations, parameters, empty loops and branches.
//
//   requires  nothing
//   ensures   every declared variable is read, every allocation is read, every parameter is used
//
//   const x: int32 = p[i]
//   var y: int32 = 0
//   y = 3                   →    (nothing)
//   for k in 0 .. n
//   while p[y] < x
//     y = y + 1
#include "ir/analysis.hpp"
#include "ir/build.hpp"
#include "passes/cursors.hpp"
#include "passes/pass.hpp"

namespace spdistal::passes {

using namespace ir;

namespace {

/// The variable that a loop walks along, where it does nothing else.
std::optional<Symbol> walked_along(const While& n) {
  std::vector<Stmt> body = flat(n.body);
  auto* step = body.size() == 1 ? body[0].as<Assign>() : nullptr;
  return step ? std::optional(step->var.symbol) : std::nullopt;
}

/// Symbols whose value matters: read anywhere but in their own updates.
std::set<Symbol> wanted(const Function& f) {
  std::set<Symbol> seen, out;  // seen: from outside
  for (const Param& p : f.params) seen.insert(p.var.symbol);
  std::map<Symbol, int> total = uses(f.body), own;
  // x = x + 1 reads x, but for itself alone.
  each<Assign>(f.body, [&](const Assign& n) {
    each<Var>(n.value, [&](const Var& v) { own[v.symbol] += v.symbol == n.var.symbol; });
  });
  each<While>(f.body, [&](const While& n) {
    std::optional<Symbol> walked = walked_along(n);
    each<Var>(n.cond, [&](const Var& v) { own[v.symbol] += walked == v.symbol; });
  });
  each<Store>(f.body, [&](const Store& n) { own[n.array.symbol]++; });
  each<Sort>(f.body, [&](const Sort& n) { own[n.array.symbol]++; });
  each<Prefetch>(f.body, [&](const Prefetch& n) { own[n.array.symbol]++; });
  // What a part that is performed does to its places is seen outside.
  each<Define>(f.body, [&](const Define& n) {
    for (const Var& place : n.places) seen.insert(place.symbol);
  });
  for (const auto& [symbol, n] : total)
    if (n > own[symbol] || seen.contains(symbol)) out.insert(symbol);
  return out;
}

Stmt once(const Function& f) {
  std::set<Symbol> keep = wanted(f);
  auto kept = [&](const Var& v) { return keep.contains(v.symbol); };
  Stmt nothing = Block{};
  return rewrite(
      f.body, [&](const Declare& n) -> Stmt { return kept(n.var) ? Stmt(n) : nothing; },
      [&](const Assign& n) -> Stmt { return kept(n.var) ? Stmt(n) : nothing; },
      [&](const Allocate& n) -> Stmt { return kept(n.array) ? Stmt(n) : nothing; },
      [&](const Store& n) -> Stmt { return kept(n.array) ? Stmt(n) : nothing; },
      [&](const Sort& n) -> Stmt { return kept(n.array) ? Stmt(n) : nothing; },
      [&](const Prefetch& n) -> Stmt { return kept(n.array) ? Stmt(n) : nothing; },
      [&](const Block& n) -> Stmt {
        std::vector<Stmt> out;
        for (const Stmt& s : n.stmts)
          if (auto* inner = s.as<Block>(); !inner || !inner->stmts.empty()) out.push_back(s);
        return out.size() == n.stmts.size() ? Stmt(n) : Stmt(Block{std::move(out)});
      },
      [&](const For& n) -> Stmt { return is_empty(n.body) ? nothing : Stmt(n); },
      [&](const While& n) -> Stmt { return is_empty(n.body) ? nothing : Stmt(n); },
      [&](const Parallel& n) -> Stmt {
        if (is_empty(n.body)) return nothing;
        std::vector<Stmt> setup = n.setup;
        std::erase_if(setup, is_empty);
        return setup == n.setup ? Stmt(n) : Stmt(Parallel{n.share, n.count, setup, n.body});
      },
      [&](const If& n) -> Stmt {
        if (!n.otherwise) return is_empty(n.then) ? nothing : Stmt(n);
        if (is_empty(*n.otherwise)) return is_empty(n.then) ? nothing : Stmt(If{n.cond, n.then, {}});
        return n;
      });
}

}  // namespace

Function remove_unused(const Function& f, const Target&) {
  Function out = f;
  for (;;) {
    Stmt next = once(out);
    if (next == out.body) break;
    out.body = next;
  }
  std::map<Symbol, int> used = uses(out.body);
  std::erase_if(out.params, [&](const Param& p) { return !used.contains(p.var.symbol); });
  return out;
}

}  // namespace spdistal::passes
