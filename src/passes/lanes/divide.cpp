#include "passes/lanes/divide.hpp"

#include "ir/analysis.hpp"
#include "ir/build.hpp"
#include "ir/substitute.hpp"
#include "passes/carried.hpp"
#include "passes/cursors.hpp"
#include "passes/lanes/ahead.hpp"

namespace spdistal::passes {

using namespace ir;

namespace {

/// A turn that ends with one sum, which is all that its variable is for, and what is done with it.
struct SummingTurn {
  std::vector<Stmt> before, after;
  For loop;
  Var sum;
};
std::optional<SummingTurn> summing_turn(const Stmt& body, const std::map<Symbol, LaneLoop>& divided) {
  std::vector<Stmt> before, after;
  std::optional<For> loop;
  for (const Stmt& s : statements(body)) {
    auto* inner = s.as<For>();
    if (inner && !loop && divided.contains(inner->var.symbol)) loop = *inner;
    else if (holds<For, While>(s) || (!loop && !s.is<Declare>() && !s.is<Comment>())) return {};
    else (loop ? after : before).push_back(s);
  }
  if (!loop) return {};
  auto sums = sums_of(*loop);
  if (!sums || sums->size() != 1) return {};
  Var sum = sums->begin()->second.var;
  for (const Stmt& s : before)
    if (auto* declared = s.as<Declare>(); declared && declared->var.symbol == sum.symbol)
      return SummingTurn{before, after, *loop, sum};
  return {};
}

}  // namespace

Divider::Divider(const std::vector<For>& loops, const Columns& columns, const SumTurns& turns)
    : columns_(columns), turns_(turns) {
  for (const For& loop : loops) divided_.emplace(loop.var.symbol, *lane_loop(loop));
}

Stmt Divider::operator()(const Stmt& s) {
  const Accesses& accesses = columns_.accesses;
  if (auto* n = s.as<For>()) {
    if (auto kind = divided_.find(n->var.symbol); kind != divided_.end())
      return kind->second == LaneLoop::Row ? columns_(*n) : kind->second == LaneLoop::Sum ? sum(*n) : scan(*n);
    if (auto together = by_turns(*n)) return *together;
  }
  if (auto* n = s.as<Allocate>()) {
    if (!accesses.is_split(n->array.symbol)) return s;
    int64_t count = *constant_integer(n->count), group = int64_t(columns_.width) * columns_.near;
    return Allocate{n->array, int64((count + group - 1) / group * columns_.near), n->fill, n->space};
  }
  if (auto* n = s.as<Store>()) return accesses.is_own(n->array.symbol) ? s : Stmt(If{equal(columns_.lane, 0), s, {}});
  return map_children(s, [&](const auto& child) {
    if constexpr (std::is_same_v<std::decay_t<decltype(child)>, Stmt>) return (*this)(child);
    else return child;
  });
}

namespace {

/// A loop with other variables to add to.
For adding_to(const For& n, const std::map<Symbol, Var>& parts) {
  std::map<Symbol, Expr> read(parts.begin(), parts.end());
  Stmt body = rewrite(substitute(n.body, read), [&](const Assign& a) {
    auto part = parts.find(a.var.symbol);
    return Stmt(Assign{part == parts.end() ? a.var : part->second, a.value});
  });
  return {n.var, n.lo, n.hi, n.step, body, LoopKind::Serial, n.unroll};
}

}  // namespace

bool Divider::is_in_columns(const For& n) const {
  return trip_count(n) && constant_integer(n.lo) == 0 && constant_integer(n.step) == 1;
}

Columns Divider::columns_of(const For& own) const {
  Columns out{columns_.item, columns_.accesses, columns_.lane, columns_.width};
  if (is_in_columns(own)) out.near = neighbours(own, out);
  return out;
}

Stmt Divider::divided(const For& own, const Columns& columns) const {
  if (is_in_columns(own)) return columns(own);
  return every_turn(own, {columns_.lane, columns_.width, turns_.at_once});
}

std::vector<Stmt> Divider::keep_rows(const For& turns, For& loop, Columns& columns) const {
  auto trips = trip_count(loop);
  std::vector<Stmt> out;
  if (!trips || *trips % (int64_t(columns.width) * columns.near) != 0 || !is_unconditional(loop.body)) return out;
  Changes inside = changes(turns.body);
  inside.variables.insert(turns.var.symbol);
  std::vector<std::pair<Expr, Var>> rows;
  each<Load>(loop.body, [&](const Load& n) {
    auto base = base_of(n.index, loop);
    bool same = base && n.lanes == 1 && !inside.touches(*base) && !inside.arrays.contains(n.array.symbol);
    for (const auto& [row, array] : rows) same &= row != Expr(n);
    if (same) rows.emplace_back(n, var(n.array.symbol.name() + "_kept", array_of(n.array.type.scalar)));
  });
  for (const auto& [row, array] : rows) {
    columns.kept.insert(array.symbol);
    out.push_back(Allocate{array, int64(*trips / columns.width), Fill::Uninitialised});
  }
  std::vector<Stmt> fills;
  for (const auto& [row, array] : rows)
    fills.push_back(
        with_fresh_variables(columns(For{loop.var, loop.lo, loop.hi, loop.step, store(array, loop.var, row)})));
  loop.body = rewrite(loop.body, [&](const Load& n) -> Expr {
    for (const auto& [row, array] : rows)
      if (row == Expr(n)) return Load{array, loop.var};
    return n;
  });
  // Where there is no turn there may be no row.
  if (!rows.empty()) out.push_back(If{turns.lo < turns.hi, Block{fills}, {}});
  return out;
}

Stmt Divider::sum(const For& n) {
  std::vector<Stmt> before, after;
  std::map<Symbol, Var> parts;
  auto sums = sums_of(n);
  for (const auto& [symbol, assign] : *sums) {
    Var part = var("part", assign.var.type);
    parts.emplace(symbol, part);
    before.push_back(Declare{part, zero(part.type), Mutability::Mutable});
    after.push_back(Assign{assign.var, Expr(assign.var) + Expr(WarpReduce{BinaryOp::Add, part, columns_.width})});
  }
  For own = adding_to(n, parts);
  before.push_back(divided(own, columns_of(own)));
  before.insert(before.end(), after.begin(), after.end());
  return Block{before};
}

// Each lane takes a turn of as many as there are lanes, and has the sums of those before it added to the total.
//
//   for p in lo .. hi                 for first in lo .. hi by 32
//     here = pos[p]                     own = first + lane < hi ? pos[first + lane] : 0
//     pos[p] = total              →     upto = warp_scan_add(own)
//     total = total + here              if first + lane < hi: pos[first + lane] = total + upto - own
//                                       total = total + upto of the last lane
Stmt Divider::scan(const For& n) {
  auto carried = *carried_sum(n);
  std::vector<Stmt> body = statements(n.body);
  const Var& total = carried.total;
  std::string name = n.var.symbol.name();
  Var first = var(name + "_first", Int64), end = var(name + "_last", Int64);
  Var own = var("own", total.type), upto = var("upto", total.type), before = var("before", total.type);
  Expr lane = columns_.lane, inside = lane < Expr(end) - first;
  auto turn_at = [&](const Expr& distance) { return declare(n.var, cast(n.var.type.scalar, Expr(first) + distance)); };
  // What is added is found without the total.
  std::vector<Stmt> finding{turn_at(lane)};
  for (size_t k = 0; k < carried.update; k++)
    if (auto* declared = body[k].as<Declare>(); declared && !uses_variable(declared->init, total.symbol))
      finding.push_back(body[k]);
  const Expr& added = body[carried.update].as<Assign>()->value.as<Binary>()->b;
  finding.push_back(Assign{own, added});
  std::vector<Stmt> turn{turn_at(lane)};
  for (size_t k = 0; k < body.size(); k++) {
    Expr at = k <= carried.update ? Expr(before) : Expr(before) + own;
    if (k != carried.update) turn.push_back(substitute(body[k], {{total.symbol, at}}));
  }
  Expr last = Shuffle{Peer::Lane, upto, int32(columns_.width - 1), columns_.width};
  return Block{
      {declare(end, cast(ScalarType::Int64, n.hi)),
       For{first, cast(ScalarType::Int64, n.lo), end, int64(columns_.width),
           Block{
               {Declare{own, zero(own.type), Mutability::Mutable}, with_fresh_variables(If{inside, Block{finding}, {}}),
                declare(upto, WarpScan{BinaryOp::Add, own, columns_.width}), declare(before, Expr(total) + upto - own),
                with_fresh_variables(If{inside, Block{turn}, {}}), Assign{total, Expr(total) + last}}}}}};
}

// Sums of as many turns as there are lanes, added up together: in the end each lane has that of one turn, and goes on with it.
//
//   for p in lo .. hi                    for first in lo .. hi by 8
//     sum = 0                              for u in 0 .. 8: parts[u] = the lane's part of the sum of turn first + u
//     for k …: sum += …              →     parts[0] = the whole sum of turn first + lane, by 7 exchanges instead of 24
//     A[p] = sum                           if first + lane < hi: A[first + lane] = parts[0]
std::optional<Stmt> Divider::by_turns(const For& n) {
  constexpr int most = 8;  // of lanes: turns are written out
  int width = columns_.width;
  auto turn = summing_turn(n.body, divided_);
  if (!turn || width > most || is_gpu(n.kind) || constant_integer(n.step) != 1 || !is_independent(n)) return {};
  bool apart = true;
  each<Store>(n.body, [&](const Store& s) { apart &= columns_.accesses.is_written_in(s.array.symbol, n.body); });
  if (!apart) return {};

  std::string name = n.var.symbol.name();
  Var first = var(name + "_first", Int64), end = var(name + "_last", Int64), u = var("u", Int64);
  Var parts = var("parts", array_of(turn->sum.type.scalar)), part = var("part", turn->sum.type);
  auto turn_of = [&](const Expr& number, const std::vector<Stmt>& then) {
    std::vector<Stmt> stmts{declare(n.var, cast(n.var.type.scalar, Expr(first) + number))};
    stmts.insert(stmts.end(), turn->before.begin(), turn->before.end());
    stmts.insert(stmts.end(), then.begin(), then.end());
    return Stmt(Block{stmts});
  };
  auto in_turn = [&](const Expr& number, const std::vector<Stmt>& then) {
    return with_fresh_variables(If{number < Expr(end) - first, turn_of(number, then), {}});
  };
  For loop = adding_to(turn->loop, {{turn->sum.symbol, part}});
  Columns columns = columns_of(loop);
  std::vector<Stmt> all = is_in_columns(loop) ? keep_rows(n, loop, columns) : std::vector<Stmt>{};
  // What the last turn adds again nobody looks at.
  std::vector<Stmt> own{divided(loop, columns)};
  Stmt added = turns_.full ? with_fresh_variables(turn_of(min(u, Expr(end) - 1 - first), own)) : in_turn(u, own);
  Stmt adding = Block{{Declare{part, zero(part.type), Mutability::Mutable}, added, store(parts, u, part)}};
  std::vector<Stmt> body{Allocate{parts, int64(width), Fill::Uninitialised},
                         For{u, int64(0), int64(width), int64(1), adding, LoopKind::Serial, 0}};
  std::vector<Stmt> together = folded(parts);
  body.insert(body.end(), together.begin(), together.end());
  std::vector<Stmt> then{Assign{turn->sum, Expr(turn->sum) + load(parts, 0)}};
  then.insert(then.end(), turn->after.begin(), turn->after.end());
  body.push_back(in_turn(columns_.lane, then));
  all.push_back(declare(end, cast(ScalarType::Int64, n.hi)));
  all.push_back(For{first, cast(ScalarType::Int64, n.lo), end, int64(width), Block{body}});
  return Block{all};
}

// Half of the lanes keep one half of the sums and hand over the other, until each has one.
std::vector<Stmt> Divider::folded(const Var& parts) {
  std::vector<Stmt> out;
  for (int half = columns_.width / 2; half >= 1; half /= 2) {
    Expr upper = equal(Expr(columns_.lane) / int64_t(half) % int64_t(2), 1);
    for (int k = 0; k < half; k++) {
      Expr low = load(parts, k), high = load(parts, k + half);
      Expr given = Shuffle{Peer::Xor, select(upper, low, high), int32(half), columns_.width};
      out.push_back(store(parts, k, select(upper, high, low) + given));
    }
  }
  return out;
}

}  // namespace spdistal::passes
