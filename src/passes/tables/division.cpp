#include "passes/tables/division.hpp"

#include <algorithm>
#include <bit>

#include "ir/substitute.hpp"
#include "passes/cursors.hpp"

namespace spdistal::passes {

using namespace ir;

Places::Places(const Gathering& item, const Expr& from)
    : keys(var("keys", array_of(item.arrays.list.type.scalar))), first(from) {
  if (item.arrays.values) sums = var("sums", array_of(item.arrays.values->type.scalar));
}

void Places::clear(Body& f, const Expr& at) const {
  f.store(keys, at, zero(key_type()));
  if (sums) f.store(*sums, at, zero(sums->type.element()));
}

void ItemDivision::gather(Body& f) const {
  for (const Stmt& s : item_.before) f.add(divided(s));
}

Stmt ItemDivision::divided(const Stmt& s) const {
  if (s.is<Store>()) return If{equal(lane_, 0), s, {}};
  if (touches_of(s).empty()) return s;
  auto* loop = s.as<For>();
  if (loop && is_touching(*loop)) return touching(*loop);
  if (loop && is_pair(*loop)) return touching_in_pairs(*loop);
  Stmt inside = map_children(s, [&](const auto& child) {
    if constexpr (std::is_same_v<std::decay_t<decltype(child)>, Stmt>) return divided(child);
    else return child;
  });
  auto begins = turn_begins();
  if (!begins) return inside;
  if (auto* n = inside.as<For>()) return For{n->var, n->lo, n->hi, n->step, Block{{*begins, n->body}}};
  if (auto* n = inside.as<While>()) return While{n->cond, Block{{*begins, n->body}}};
  return inside;
}

Stmt ItemDivision::with_claims(const Stmt& body, const std::function<Stmt(const WorkspaceTouch&)>& claiming) const {
  return rewrite(body, [&](const If& n) -> Stmt {
    auto touch = touch_of(n);
    return touch ? claiming(*touch) : Stmt(n);
  });
}

void ItemDivision::list_one(Body& f, const Expr& number, const Expr& key, const Expr& place) const {
  const For& n = *item_.listing;
  f.add(declare(n.var, cast(n.var.type.scalar, number)));
  std::map<Symbol, Expr> at;
  if (item_.cursor) at.emplace(item_.cursor->symbol, Expr(*item_.cursor) + cast(item_.cursor->type.scalar, number));
  for (const Stmt& s : flat(n.body)) {
    auto* stored = s.as<Store>();
    if (s.is<Assign>() || (stored && stored->array.symbol == item_.arrays.marks.symbol)) continue;
    f.add(rewrite(substitute(s, at), [&](const Load& m) -> Expr {
      if (m.array.symbol == item_.arrays.list.symbol) return key;
      bool value = item_.arrays.values && m.array.symbol == item_.arrays.values->symbol;
      return value ? load(*places_.sums, place) : Expr(m);
    }));
  }
}

void ItemDivision::finish(Body& f, const Expr& listed) const {
  if (item_.cursor) f.increase(*item_.cursor, cast(item_.cursor->type.scalar, listed));
  for (const Stmt& s : item_.after) f.add(divided(s));
}

int lanes_of_a_row(double average_row) {
  return int(std::bit_floor(uint64_t(std::clamp(1.25 * average_row, 4.0, double(warp_size)))));
}

}  // namespace spdistal::passes
