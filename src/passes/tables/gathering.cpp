#include "passes/tables/gathering.hpp"

#include <algorithm>

#include "ir/analysis.hpp"
#include "ir/build.hpp"
#include "passes/cursors.hpp"

namespace spdistal::passes {

using namespace ir;

namespace {

/// The same whole number, of whatever width?
bool is_same_number(const Expr& a, const Expr& b) {
  auto plain = [](Expr e) {
    for (const Cast* n = e.as<Cast>(); n && is_integral(n->type); n = e.as<Cast>()) e = Expr(n->value);
    return e;
  };
  return plain(a) == plain(b);
}

}  // namespace

std::optional<WorkspaceTouch> touch_of(const If& n) {
  const Load* asked = n.cond.as<Load>();
  auto* negated = n.cond.as<Unary>();
  bool first = negated && negated->op == UnaryOp::Not;  // the branch that lists comes first
  if (first) asked = negated->a.as<Load>();
  if (!asked || asked->array.type.scalar != ScalarType::Bool || (!first && !n.otherwise)) return {};
  const Expr& at = asked->index;
  std::optional<Var> list, count, values;
  std::optional<Expr> value;
  bool marked = false, counted = false;
  for (const Stmt& s : flat(first ? n.then : *n.otherwise)) {
    if (auto* stored = s.as<Store>(); stored && stored->mode == StoreMode::Set) {
      if (stored->array.symbol == asked->array.symbol) marked = stored->index == at;
      else if (stored->index == at) values = stored->array, value = stored->value;
      else if (auto* counter = stored->index.as<Var>(); counter && is_same_number(stored->value, at))
        list = stored->array, count = *counter;
      else return {};
    } else if (auto* assigned = s.as<Assign>(); assigned && count && is_increment(*assigned, *count)) {
      counted = true;
    } else {
      return {};
    }
  }
  if (!marked || !counted) return {};
  std::vector<Stmt> again;
  if (!first) again = flat(n.then);
  else if (n.otherwise) again = flat(*n.otherwise);
  if (again.size() != (values ? 1u : 0u)) return {};
  for (const Stmt& s : again) {
    auto* added = s.as<Store>();
    bool same = added && added->mode == StoreMode::Add && added->array.symbol == values->symbol && added->index == at &&
                added->value == *value;
    if (!same) return {};
  }
  return WorkspaceTouch{asked->array, *list, *count, values, at, value};
}

std::vector<WorkspaceTouch> touches_of(const Stmt& s) {
  std::vector<WorkspaceTouch> out;
  each<If>(s, [&](const If& n) {
    if (auto touch = touch_of(n)) out.push_back(*touch);
  });
  return out;
}

bool Gathering::mentions(const Stmt& s) const {
  std::map<Symbol, int> used = uses(s);
  return used.contains(arrays.marks.symbol) || used.contains(arrays.list.symbol) ||
         (arrays.values && used.contains(arrays.values->symbol));
}

bool Gathering::reads_values() const {
  bool found = false;
  each<Load>(listing->body, [&](const Load& n) { found |= arrays.values && n.array.symbol == arrays.values->symbol; });
  return found;
}

bool Gathering::stores() const {
  bool found = false;
  each<Store>(listing->body, [&](const Store& n) { found |= n.array.symbol != arrays.marks.symbol; });
  return found;
}
bool is_touching(const For& n) {
  if (holds<For, While>(n.body) || touches_of(n.body).size() != 1) return false;
  WorkspaceTouch touch = touches_of(n.body)[0];
  bool alone = n.kind == LoopKind::Serial && constant_integer(n.step) == 1 && !holds<Break, Allocate, Sort>(n.body);
  for (const Var& v : assigned_outside(n.body)) alone &= v.symbol == touch.count.symbol;
  int stores = 0;
  each<Store>(n.body, [&](const Store&) { stores++; });
  return alone && stores == (touch.values ? 4 : 2);
}

bool is_pair(const For& n) {
  std::vector<Stmt> body = flat(n.body);
  auto* inner = body.empty() ? nullptr : body.back().as<For>();
  bool alone = inner && is_touching(*inner) && n.kind == LoopKind::Serial && constant_integer(n.step) == 1;
  for (size_t k = 0; k + 1 < body.size(); k++) {
    auto* declared = body[k].as<Declare>();
    alone &= declared && declared->mutability == Mutability::Const;
  }
  return alone;
}

namespace {

/// Is the number of those that are listed read other than to list them? It is known when all are gathered, not before.
bool asks_for_count(const Stmt& s, const Gathering& item) {
  Stmt others = rewrite(s, [](const If& n) -> Stmt {
    if (touch_of(n)) return Block{};
    return n;
  });
  return uses(others).contains(item.arrays.count.symbol);
}

/// Is all that touches in such loops, and what is around them the same for all lanes?
bool gathers(const Stmt& s, const Gathering& item) {
  if (touches_of(s).empty()) return !item.mentions(s) && !holds<Store, Sort, Allocate, Break>(s);
  auto all = [&](const std::vector<Stmt>& stmts) {
    return std::all_of(stmts.begin(), stmts.end(), [&](const Stmt& inner) { return gathers(inner, item); });
  };
  if (s.is<Block>()) return all(flat(s));
  if (auto* n = s.as<While>()) return all({n->body});
  if (auto* n = s.as<For>()) return is_touching(*n) || (n->kind == LoopKind::Serial && all({n->body}));
  auto* n = s.as<If>();
  return n && !touch_of(*n) && all({n->then}) && (!n->otherwise || all({*n->otherwise}));
}

/// Takes a loop over the list; false where it is none, or does what cannot be done in any order.
bool take_listing(const For& n, Gathering& item) {
  auto* end = n.hi.as<Var>();
  if (!end || end->symbol != item.arrays.count.symbol || constant_integer(n.lo) != 0 || item.listing) return false;
  const Expr listed = load(item.arrays.list, n.var);
  bool legal = true;
  for (const Stmt& s : flat(n.body)) {
    auto* declared = s.as<Declare>();
    auto* stored = s.as<Store>();
    auto* assigned = s.as<Assign>();
    if (item.cursor) {
      std::map<Symbol, int> used = uses(s);
      legal &= !used.contains(item.cursor->symbol);
    }
    if (declared) legal &= declared->mutability == Mutability::Const;
    else if (stored) legal &= stored->mode == StoreMode::Set && stored->array.symbol != item.arrays.list.symbol;
    else if (assigned && !item.cursor && is_increment(*assigned, assigned->var)) item.cursor = assigned->var;
    else legal = false;
  }
  each<Load>(n.body, [&](const Load& m) {
    Expr at = expanded(m.index, n.body);
    bool own = at == listed || at == wide(listed);
    if (item.arrays.values && m.array.symbol == item.arrays.values->symbol) legal &= own;
    legal &= m.array.symbol != item.arrays.marks.symbol;
    if (m.array.symbol == item.arrays.list.symbol) legal &= m.index == Expr(n.var);
  });
  item.listing = n;
  return legal && !asks_for_count(n.body, item);
}

/// Nothing but marks are taken away, one for each that is listed.
bool is_cleaning(const For& n, const Gathering& item) {
  std::vector<Stmt> body = flat(n.body);
  return std::all_of(body.begin(), body.end(), [&](const Stmt& s) {
    auto* stored = s.as<Store>();
    return s.is<Declare>() || (stored && stored->array.symbol == item.arrays.marks.symbol);
  });
}

}  // namespace

std::optional<Gathering> gathering_of(const ParallelRegion& region) {
  std::vector<WorkspaceTouch> touches = touches_of(region.body);
  if (touches.empty() || region.item.type != Int64) return {};
  Gathering item{touches[0], {}, {}, {}, {}};
  const WorkspaceTouch& of = item.arrays;
  for (const WorkspaceTouch& t : touches)
    if (t.marks.symbol != of.marks.symbol || t.list.symbol != of.list.symbol || t.count.symbol != of.count.symbol ||
        t.values.has_value() != of.values.has_value() || (t.values && t.values->symbol != of.values->symbol))
      return {};
  for (const Stmt& s : region.setup) {
    const Symbol& made = s.as<Allocate>()->array.symbol;
    if (made != of.marks.symbol && made != of.list.symbol && !(of.values && made == of.values->symbol)) return {};
  }
  for (const Stmt& s : flat(region.body)) {
    auto* loop = s.as<For>();
    auto* sorted = s.as<Sort>();
    auto* stored = s.as<Store>();
    std::vector<Stmt>& to = item.listing ? item.after : item.before;
    if (!touches_of(s).empty() && !item.listing && gathers(s, item)) to.push_back(s);
    else if (sorted && sorted->array.symbol == of.list.symbol) continue;
    else if (loop && item.mentions(s) && touches_of(s).empty()) {
      if (item.listing ? !is_cleaning(*loop, item) : !take_listing(*loop, item)) return {};
    } else if (!item.mentions(s) && (s.is<Declare>() || s.is<Assign>() || (stored && stored->mode == StoreMode::Set))) {
      to.push_back(s);
    } else {
      return {};
    }
  }
  for (const Stmt& s : item.before)
    if (asks_for_count(s, item)) return {};
  return item.listing ? std::optional(item) : std::nullopt;
}

}  // namespace spdistal::passes
