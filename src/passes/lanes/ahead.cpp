#include "passes/lanes/ahead.hpp"

#include <algorithm>

#include "ir/analysis.hpp"
#include "ir/build.hpp"
#include "ir/substitute.hpp"
#include "passes/lanes/loops.hpp"

namespace spdistal::passes {

using namespace ir;

namespace {

/// Loads of a loop at its variable, plus what stays the same; each once.
std::vector<Expr> loads_along(const For& loop) {
  std::vector<Expr> out;
  Changes inside = changes(loop.body);
  each<Load>(loop.body, [&](const Load& n) {
    bool along = n.lanes == 1 && !inside.arrays.contains(n.array.symbol) && base_of(n.index, loop);
    if (along && std::find(out.begin(), out.end(), Expr(n)) == out.end()) out.push_back(n);
  });
  return out;
}

}  // namespace

Stmt every_turn(const For& n, const Stride& stride) {
  // Positions of 32 bits may end where counting in steps would overflow.
  std::string name = n.var.symbol.name();
  Var first = var(name + "_first", Int64), end = var(name + "_last", Int64);
  Expr step = cast(ScalarType::Int64, n.step);
  auto loop = [&](int turns, const Stmt& body) {
    Expr lo = cast(ScalarType::Int64, n.lo) + stride.from * step, by = step * int64_t(stride.by * turns);
    return Stmt(Block{{declare(end, cast(ScalarType::Int64, n.hi)), For{first, lo, end, by, body}}});
  };
  auto declared = [&](const Expr& value) { return declare(n.var, cast(n.var.type.scalar, value)); };
  std::vector<Expr> loads = is_unconditional(n.body) ? loads_along(n) : std::vector<Expr>{};
  int turns = loads.empty() ? 1 : stride.at_once;
  if (turns == 1) return loop(1, Block{{declared(first), n.body}});

  auto each = [&](const Var& u, const Stmt& body) {
    return Stmt(For{u, int64(0), int64(turns), int64(1), body, LoopKind::Serial, 0});
  };
  auto distance = [&](const Var& u) { return Expr(u) * (step * int64_t(stride.by)); };
  std::vector<Stmt> stmts, asked;
  Var ahead = var("u", Int64), now = var("u", Int64);
  asked.push_back(declared(Expr(first) + min(distance(ahead), Expr(end) - 1 - first)));
  std::vector<Var> kept;
  for (const Expr& load : loads) {
    const Var& array = load.as<Load>()->array;
    kept.push_back(var(array.symbol.name() + "_ahead", array_of(array.type.scalar)));
    stmts.push_back(Allocate{kept.back(), int64(turns), Fill::Uninitialised});
    asked.push_back(store(kept.back(), ahead, load));
  }
  stmts.push_back(with_fresh_variables(each(ahead, Block{asked})));
  Stmt body = rewrite(n.body, [&](const Load& load) -> Expr {
    auto found = std::find(loads.begin(), loads.end(), Expr(load));
    return found == loads.end() ? Expr(load) : Expr(Load{kept[size_t(found - loads.begin())], now});
  });
  body = Block{{declared(Expr(first) + distance(now)), body}};
  stmts.push_back(each(now, If{distance(now) < Expr(end) - first, body, {}}));
  return loop(turns, Block{stmts});
}

}  // namespace spdistal::passes
