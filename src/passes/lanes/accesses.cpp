#include "passes/lanes/accesses.hpp"

#include <algorithm>

#include "ir/analysis.hpp"
#include "ir/build.hpp"
#include "passes/grid.hpp"
#include "passes/lanes/loops.hpp"

namespace spdistal::passes {

using namespace ir;

Accesses::Accesses(const Stmt& body, const std::vector<For>& loops) : body_(body) {
  for (const For& loop : loops) divided_.insert(loop.var.symbol);
  each<Allocate>(body, [&](const Allocate& n) { own_.emplace(n.array.symbol, n); });
  walk(body, nullptr);
}

bool Accesses::legal() const {
  for (const auto& [array, uses] : arrays_) {
    if (own_.contains(array)) {
      if (!is_split(array) && (uses.stored_inside || !uses.legal)) return false;
      continue;
    }
    if (!uses.stored) continue;
    bool only_outside = !uses.stored_inside && !uses.loaded, only_added = !uses.plain && !uses.loaded;
    if (!only_outside && !only_added && !has_one_lane(uses)) return false;
  }
  return true;
}

bool Accesses::is_split(const Symbol& array) const {
  auto own = own_.find(array);
  auto uses = arrays_.find(array);
  if (own == own_.end() || uses == arrays_.end()) return false;
  const Uses& u = uses->second;
  auto count = constant_integer(own->second.count);
  return count && u.legal && u.stored_inside && !u.outside && u.bases.size() == 1 &&
         constant_integer(*u.bases.begin()) == 0 && u.longest && *u.longest <= *count;
}

bool Accesses::is_written_in(const Symbol& array, const Stmt& part) const {
  auto stores = [&](const Stmt& s) {
    int count = 0;
    each<Store>(s, [&](const Store& n) { count += n.array.symbol == array; });
    return count;
  };
  const Uses& u = arrays_.at(array);
  return !u.loaded && !u.adds && stores(body_) == stores(part);
}

void Accesses::note(const Var& array, const Expr& index, const For* loop) {
  Uses& u = arrays_[array.symbol];
  if (!loop) {
    u.outside = true;
    return;
  }
  auto base = base_of(index, *loop);
  if (!base) {
    u.legal = false;
    return;
  }
  base = expanded(*base, body_);
  if (std::find(u.bases.begin(), u.bases.end(), *base) == u.bases.end()) u.bases.push_back(*base);
  auto trips = trip_count(*loop);
  if (trips && u.longest) u.longest = std::max(*u.longest, *trips);
  else u.longest.reset();
}

void Accesses::walk(const Stmt& s, const For* loop) {
  if (auto* n = s.as<For>(); n && divided_.contains(n->var.symbol)) {
    loads(n->lo, loop), loads(n->hi, loop), loads(n->step, loop);
    return walk(n->body, n);
  }
  if (auto* n = s.as<Store>()) {
    Uses& u = arrays_[n->array.symbol];
    u.stored = true;
    u.plain |= !is_atomic(n->mode);
    u.adds |= n->mode == StoreMode::Add;
    u.stored_inside |= loop != nullptr;
    note(n->array, n->index, loop);
  }
  if (auto* n = s.as<Sort>()) {
    Uses& u = arrays_[n->array.symbol];
    u.stored = u.loaded = u.outside = true;
  }
  children(s, [&](const auto& child) {
    if constexpr (std::is_same_v<std::decay_t<decltype(child)>, Stmt>) walk(child, loop);
    else loads(child, loop);
  });
}

void Accesses::loads(const Expr& e, const For* loop) {
  each<Load>(e, [&](const Load& n) {
    arrays_[n.array.symbol].loaded = true;
    note(n.array, n.index, loop);
  });
  each<Search>(e, [&](const Search& n) {
    arrays_[n.array.symbol].loaded = true;
    arrays_[n.array.symbol].outside = true;
    if (loop) arrays_[n.array.symbol].legal = false;
  });
}

bool Accesses::has_one_lane(const Uses& u) const {
  if (u.outside || !u.legal || u.bases.size() != 1) return false;
  // What nobody looks at is of a row that has no element in common with others.
  bool only_written = !u.loaded && !u.adds;
  return only_written || !changes(body_).touches(u.bases[0]);
}

}  // namespace spdistal::passes
