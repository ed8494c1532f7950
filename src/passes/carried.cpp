#include "passes/carried.hpp"

#include <algorithm>

#include "ir/analysis.hpp"
#include "ir/build.hpp"
#include "ir/substitute.hpp"
#include "passes/cursors.hpp"

namespace spdistal::passes {

using namespace ir;

bool uses_variable(const Expr& e, const Symbol& symbol) {
  bool found = false;
  each<Var>(e, [&](const Var& v) { found |= v.symbol == symbol; });
  return found;
}

namespace {

/// Has it another value in every turn: the loop's variable, times and plus what stays the same?
bool tells_turns_apart(const Expr& e, const Symbol& var, const Changes& inside) {
  if (auto* v = e.as<Var>()) return v->symbol == var;
  if (auto* cast = e.as<Cast>()) return cast->type == ScalarType::Int64 && tells_turns_apart(cast->value, var, inside);
  auto* n = e.as<Binary>();
  if (!n) return false;
  bool left = uses_variable(n->a, var), right = uses_variable(n->b, var);
  if (left == right) return false;
  const Expr &moving = left ? n->a : n->b, &steady = left ? n->b : n->a;
  if (inside.touches(steady)) return false;
  if (n->op == BinaryOp::Add || n->op == BinaryOp::Sub) return tells_turns_apart(moving, var, inside);
  auto factor = constant_integer(steady);
  return n->op == BinaryOp::Mul && factor && *factor != 0 && tells_turns_apart(moving, var, inside);
}

/// Does each turn store to elements of its own, and look at no others of the same arrays?
bool stores_apart(const For& loop) {
  Changes inside = changes(loop.body);
  std::map<Symbol, Expr> at;
  bool apart = true;
  auto touch = [&](const Var& array, const Expr& index) {
    auto [it, fresh] = at.emplace(array.symbol, index);
    apart &= fresh ? tells_turns_apart(index, loop.var.symbol, inside) : it->second == index;
  };
  each<Store>(loop.body, [&](const Store& n) {
    apart &= type_of(n.value).lanes == 1;
    touch(n.array, n.index);
  });
  each<Load>(loop.body, [&](const Load& n) {
    if (inside.arrays.contains(n.array.symbol)) apart &= n.lanes == 1, touch(n.array, n.index);
  });
  each<Search>(loop.body, [&](const Search& n) { apart &= !inside.arrays.contains(n.array.symbol); });
  return apart && !holds<Sort, Allocate, Break>(loop.body);
}

}  // namespace

Expr turns(const For& n) {
  Expr lo = cast(ScalarType::Int64, n.lo), hi = cast(ScalarType::Int64, n.hi), step = cast(ScalarType::Int64, n.step);
  return max(int64(0), (hi - lo + step - 1) / step);
}

Expr value_at(const For& n, const Expr& turn) { return n.lo + cast(n.var.type.scalar, turn) * n.step; }

bool is_independent(const For& loop) { return assigned_outside(loop.body).empty() && stores_apart(loop); }

std::optional<CarriedSum> carried_sum(const For& loop) {
  std::vector<Stmt> body = statements(loop.body);
  std::optional<CarriedSum> out;
  for (size_t k = 0; k < body.size(); k++) {
    auto* n = body[k].as<Assign>();
    auto* sum = n ? n->value.as<Binary>() : nullptr;
    if (!n && !body[k].is<Declare>() && !body[k].is<Store>() && !body[k].is<Comment>()) return {};
    if (!n) continue;
    bool adds = sum && sum->op == BinaryOp::Add && sum->a == Expr(n->var) && !uses_variable(sum->b, n->var.symbol);
    if (out || !adds || !is_integral(n->var.type.scalar) || n->var.type.scalar == ScalarType::Bool) return {};
    out = CarriedSum{n->var, k};
  }
  // What is added must be known without the sum.
  if (!out || assigned_outside(loop.body).size() != 1 || !stores_apart(loop)) return {};
  std::set<Symbol> follow{out->total.symbol};
  for (const Stmt& s : body)
    if (auto* n = s.as<Declare>())
      for (const Symbol& symbol : std::set(follow))
        if (uses_variable(n->init, symbol)) follow.insert(n->var.symbol);
  const Expr& added = body[out->update].as<Assign>()->value.as<Binary>()->b;
  for (const Symbol& symbol : follow)
    if (uses_variable(added, symbol)) return {};
  return out;
}

std::vector<Stmt> in_shares(const For& loop, const CarriedSum& carried, int64_t most) {
  const Var& total = carried.total;
  std::vector<Stmt> body = statements(loop.body);
  Body f;
  Var n = f.constant("turns", turns(loop));
  Var shares = f.constant("shares", max(int64(1), min(int64(most), (Expr(n) + 15) / 16)));
  Var sums = f.allocate("sums", total.type.scalar, shares, Fill::Uninitialised);
  // Turns that follow each other are values that do, over which lanes can scan.
  bool one_by_one = constant_integer(loop.step) == 1;
  auto part = [&](const Var& t, const std::vector<Stmt>& stmts) {
    Stmt inside = with_fresh_variables(Block{stmts});
    Expr begin = n * Expr(t) / shares, end = n * (Expr(t) + 1) / shares;
    if (one_by_one) { begin = value_at(loop, begin), end = value_at(loop, end); }
    f.loop(one_by_one ? loop.var.symbol.name() : "turn", begin, end, [&](const Var& turn) {
      Var value = one_by_one ? turn : f.constant(loop.var.symbol.name(), value_at(loop, turn));
      for (const Stmt& s : statements(substitute(inside, {{loop.var.symbol, value}}))) f.add(s);
    });
  };
  // With a variable of the share's own in the place of the total.
  auto with_own = [&](const Var& own, const std::vector<Stmt>& stmts) {
    std::vector<Stmt> out;
    for (const Stmt& s : stmts) {
      Stmt changed = substitute(s, {{total.symbol, own}});
      if (auto* assign = s.as<Assign>()) changed = Assign{own, substitute(assign->value, {{total.symbol, own}})};
      out.push_back(changed);
    }
    return out;
  };
  f.parallel("t", shares, [&](const Var& t) {
    Var own = f.variable("sum", zero(total.type));
    std::vector<Stmt> adding;
    for (size_t k = 0; k <= carried.update; k++)
      if (!body[k].is<Store>()) adding.push_back(body[k]);
    part(t, with_own(own, adding));
    f.store(sums, t, own);
  });
  f.loop("t", int64(0), shares, [&](const Var& t) {
    Var here = f.constant("here", load(sums, t));
    f.store(sums, t, total);
    f.increase(total, here);
  });
  f.parallel("t", shares, [&](const Var& t) {
    Var own = f.variable("sum", load(sums, t));
    part(t, with_own(own, body));
  });
  Stmt all = f.build();
  return statements(all);
}

}  // namespace spdistal::passes
