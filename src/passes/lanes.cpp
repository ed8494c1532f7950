#include "passes/lanes.hpp"

#include <algorithm>
#include <bit>
#include <map>
#include <set>

#include "ir/analysis.hpp"
#include "ir/build.hpp"
#include "ir/substitute.hpp"
#include "passes/carried.hpp"
#include "passes/grid.hpp"

namespace spdistal::passes {

using namespace ir;

namespace {

bool has_loops(const Stmt& s) { return holds<For, While>(s); }

/// Does it hold what the lanes of a group would get in each other's way with?
bool has_obstacles(const Stmt& s) { return holds<Break, Sort, Allocate>(s); }

/// The variables from outside that a loop's body adds to, where that is all it does to them.
std::optional<std::map<Symbol, Assign>> sums_of(const For& loop) {
  std::set<Symbol> own;
  each<Declare>(loop.body, [&](const Declare& n) { own.insert(n.var.symbol); });
  if (carried_variable(loop.body)) return {};
  std::map<Symbol, Assign> out;
  bool legal = true;
  each<Assign>(loop.body, [&](const Assign& n) {
    if (own.contains(n.var.symbol)) return;
    auto* sum = n.value.as<Binary>();
    ScalarType type = n.var.type.scalar;
    legal &= sum && sum->op == BinaryOp::Add && type != ScalarType::Bool && !is_complex(type);
    out.emplace(n.var.symbol, n);
  });
  if (!legal) return {};
  return out;
}

/// index == base + k with base free of what the loop changes.
std::optional<Expr> base_of(const Expr& index, const For& loop) {
  auto is_k = [&](const Expr& e) {
    auto* cast = e.as<Cast>();
    return e == Expr(loop.var) || (cast && cast->value == Expr(loop.var));
  };
  Changes inside = changes(loop.body);
  inside.variables.insert(loop.var.symbol);
  if (is_k(index)) return int64(0);
  auto* sum = index.as<Binary>();
  if (!sum || sum->op != BinaryOp::Add) return {};
  if (is_k(sum->b) && !inside.touches(sum->a)) return sum->a;
  if (is_k(sum->a) && !inside.touches(sum->b)) return sum->b;
  return {};
}

enum class Kind : uint8_t { Row, Sum };

/// What kind of innermost loop can be divided among lanes.
std::optional<Kind> kind_of(const For& loop) {
  if (has_loops(loop.body) || has_obstacles(loop.body) || is_gpu(loop.kind)) return {};
  bool stores = false, in_rows = true;
  each<Store>(loop.body, [&](const Store& n) {
    stores = true;
    in_rows &= n.mode == StoreMode::AtomicAdd || base_of(n.index, loop).has_value();
  });
  if (!stores) {
    auto sums = sums_of(loop);
    return sums && !sums->empty() ? std::optional(Kind::Sum) : std::nullopt;
  }
  std::set<Symbol> own;
  bool assigns = false;
  each<Declare>(loop.body, [&](const Declare& n) { own.insert(n.var.symbol); });
  each<Assign>(loop.body, [&](const Assign& n) { assigns |= !own.contains(n.var.symbol); });
  bool from_zero = constant_integer(loop.lo) == 0 && constant_integer(loop.step) == 1;
  bool apart = loop.kind == LoopKind::Vector || is_independent(loop);
  bool divisible = apart && in_rows && !assigns && from_zero;
  return divisible ? std::optional(Kind::Row) : std::nullopt;
}

/// The loops of an item that lanes divide among them: all rows, or else all sums.
std::vector<For> divided_loops(const Stmt& body) {
  std::vector<For> rows, sums;
  each<For>(body, [&](const For& n) {
    if (auto kind = kind_of(n)) (*kind == Kind::Row ? rows : sums).push_back(n);
  });
  return rows.empty() ? sums : rows;
}

/// What stands where: in divided loops, with the row that it is of; or around them.
class Accesses {
 public:
  Accesses(const Stmt& body, const std::vector<For>& loops) : body_(body) {
    for (const For& loop : loops) divided_.insert(loop.var.symbol);
    each<Allocate>(body, [&](const Allocate& n) { own_.emplace(n.array.symbol, n); });
    walk(body, nullptr);
  }

  /// May lanes divide it?
  bool legal() {
    for (auto& [array, uses] : arrays_) {
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

  /// Arrays of the item's own, of which each lane needs its part alone.
  bool is_split(const Symbol& array) const {
    auto own = own_.find(array);
    auto uses = arrays_.find(array);
    if (own == own_.end() || uses == arrays_.end()) return false;
    const Uses& u = uses->second;
    auto count = constant_integer(own->second.count);
    return count && u.legal && u.stored_inside && !u.outside && u.bases.size() == 1 &&
           constant_integer(*u.bases.begin()) == 0 && u.longest && *u.longest <= *count;
  }

 private:
  struct Uses {
    bool stored = false, loaded = false, adds = false;
    bool stored_inside = false, outside = false;
    bool legal = true;                   // all accesses inside are of rows
    bool plain = false;                  // stored to other than atomically
    std::vector<Expr> bases = {};        // of rows, each once
    std::optional<int64_t> longest = 0;  // of the loops inside, where known
  };

  void note(const Var& array, const Expr& index, const For* loop) {
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

  void walk(const Stmt& s, const For* loop) {
    if (auto* n = s.as<For>(); n && divided_.contains(n->var.symbol)) {
      children(*n, loop);
      return walk(n->body, n);
    }
    if (auto* n = s.as<Store>()) {
      Uses& u = arrays_[n->array.symbol];
      u.stored = true;
      u.plain |= n->mode != StoreMode::AtomicAdd;
      u.adds |= n->mode == StoreMode::Add;
      u.stored_inside |= loop != nullptr;
      note(n->array, n->index, loop);
    }
    if (auto* n = s.as<Sort>()) {
      Uses& u = arrays_[n->array.symbol];
      u.stored = u.loaded = u.outside = true;
    }
    spdistal::children(s, [&](const auto& child) {
      if constexpr (std::is_same_v<std::decay_t<decltype(child)>, Stmt>) walk(child, loop);
      else loads(child, loop);
    });
  }
  void children(const For& n, const For* loop) { loads(n.lo, loop), loads(n.hi, loop), loads(n.step, loop); }
  void loads(const Expr& e, const For* loop) {
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

  /// Does the same lane come to an element, wherever it is used?
  bool has_one_lane(const Uses& u) const {
    if (u.outside || !u.legal || u.bases.size() != 1) return false;
    // What nobody looks at is of a row that has no element in common with others.
    bool only_written = !u.loaded && !u.adds;
    return only_written || !changes(body_).touches(u.bases[0]);
  }

  const Stmt& body_;
  std::set<Symbol> divided_;
  std::map<Symbol, Allocate> own_;
  std::map<Symbol, Uses> arrays_;
};

class Divider {
 public:
  Divider(const std::vector<For>& loops, const Accesses& accesses, const Var& lane, int width)
      : accesses_(accesses), lane_(lane), width_(width) {
    for (const For& loop : loops) divided_.emplace(loop.var.symbol, *kind_of(loop));
  }

  Stmt operator()(const Stmt& s) {
    if (auto* n = s.as<For>())
      if (auto kind = divided_.find(n->var.symbol); kind != divided_.end())
        return kind->second == Kind::Row ? row(*n) : sum(*n);
    if (auto* n = s.as<Allocate>()) {
      own_.insert(n->array.symbol);
      if (!accesses_.is_split(n->array.symbol)) return s;
      int64_t count = *constant_integer(n->count);
      return Allocate{n->array, int64((count + width_ - 1) / width_), n->fill, n->space};
    }
    if (auto* n = s.as<Store>()) return own_.contains(n->array.symbol) ? s : Stmt(If{equal(lane_, 0), s, {}});
    return map_children(s, [&](const auto& child) {
      if constexpr (std::is_same_v<std::decay_t<decltype(child)>, Stmt>) return (*this)(child);
      else return child;
    });
  }

 private:
  Expr first(const Var& like) const { return cast(like.type.scalar, lane_); }

  Stmt sum(const For& n) {
    std::vector<Stmt> before, after;
    std::map<Symbol, Expr> parts;
    auto sums = sums_of(n);
    for (const auto& [symbol, assign] : *sums) {
      Var part = var("part", assign.var.type);
      parts.emplace(symbol, part);
      before.push_back(Declare{part, zero(part.type), Mutability::Mutable});
      after.push_back(Assign{assign.var, Expr(assign.var) + Expr(WarpReduce{BinaryOp::Add, part, width_})});
    }
    Stmt body = rewrite(substitute(n.body, parts), [&](const Assign& a) -> Stmt {
      auto part = parts.find(a.var.symbol);
      return part == parts.end() ? Stmt(a) : Stmt(Assign{*part->second.as<Var>(), a.value});
    });
    Expr by = n.step * int64_t(width_);
    before.push_back(
        For{n.var, n.lo + first(n.var) * n.step, n.hi, cast(n.var.type.scalar, by), body, LoopKind::Serial, n.unroll});
    before.insert(before.end(), after.begin(), after.end());
    return Block{before};
  }

  Stmt row(const For& n) {
    auto trips = trip_count(n);
    Var turn = var(n.var.symbol.name() + "q", n.var.type);
    Expr wide = literal(ir::Scalar::integer(n.var.type.scalar, width_));
    // Arrays of the lane's own are numbered by its turns.
    Stmt body = rewrite(
        n.body,
        [&](const Load& l) -> Expr {
          return accesses_.is_split(l.array.symbol) ? Expr(Load{l.array, turn, l.lanes}) : Expr(l);
        },
        [&](const Store& s) -> Stmt {
          return accesses_.is_split(s.array.symbol) ? Stmt(Store{s.mode, s.array, turn, s.value}) : Stmt(s);
        });
    Stmt inside = Block{{Declare{n.var, Expr(turn) * wide + first(n.var), Mutability::Const}, body}};
    if (!trips || *trips % width_ != 0)
      inside = Block{
          {Declare{n.var, Expr(turn) * wide + first(n.var), Mutability::Const}, If{Expr(n.var) < n.hi, body, {}}}};
    Expr end = (n.hi + (wide - 1)) / wide;
    constexpr int64_t most_unrolled = 16;
    bool short_enough = trips && *trips <= most_unrolled * width_;
    return For{turn, n.lo, end, n.step, inside, LoopKind::Serial, short_enough ? 0 : 1};
  }

  const Accesses& accesses_;
  Var lane_;
  int width_;
  std::map<Symbol, Kind> divided_;
  std::set<Symbol> own_;
};

bool has_large_arrays(const Stmt& body) {
  bool found = false;
  each<Allocate>(body, [&](const Allocate& n) { found |= !constant_integer(n.count).has_value(); });
  return found;
}

}  // namespace

int lanes_for(const Stmt& body, const Mapping& mapping) {
  std::vector<For> loops = divided_loops(body);
  if (loops.empty()) return 1;
  if (mapping.lanes) return *mapping.lanes;
  // Four turns for each lane hide what starting and adding up take.
  constexpr double turns_of_a_lane = 4;
  double shortest = 1e9;
  for (const For& loop : loops) {
    auto trips = trip_count(loop);
    shortest = std::min(shortest, trips                        ? double(*trips) / turns_of_a_lane
                                  : kind_of(loop) == Kind::Row ? 8.0
                                                               : mapping.average_row / 2);
  }
  return int(std::bit_floor(uint64_t(std::clamp(shortest, 1.0, 32.0))));
}

std::optional<Stmt> by_lanes(const Stmt& body, const Var& lane, int width) {
  std::vector<For> loops = divided_loops(body);
  if (loops.empty() || width == 1 || has_large_arrays(body)) return {};
  Accesses accesses(body, loops);
  if (!accesses.legal()) return {};
  return Divider(loops, accesses, lane, width)(body);
}

}  // namespace spdistal::passes
