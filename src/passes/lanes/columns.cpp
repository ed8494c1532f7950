#include "passes/lanes/columns.hpp"

#include <algorithm>
#include <bit>

#include "ir/analysis.hpp"
#include "ir/build.hpp"
#include "ir/substitute.hpp"
#include "passes/grid.hpp"
#include "passes/lanes/loops.hpp"

namespace spdistal::passes {

using namespace ir;

namespace {

bool is_multiple(const Expr& e, int64_t of) {
  if (auto value = constant_integer(e)) return *value % of == 0;
  if (auto* cast = e.as<Cast>()) return is_multiple(cast->value, of);
  auto* n = e.as<Binary>();
  if (!n) return false;
  bool a = is_multiple(n->a, of), b = is_multiple(n->b, of);
  if (n->op == BinaryOp::Mul) return a || b;
  return (n->op == BinaryOp::Add || n->op == BinaryOp::Sub) && a && b;
}

/// As many elements as a lane loads at once.
int at_once(ScalarType type) {
  constexpr size_t bytes = 16;
  return int(std::max<size_t>(1, bytes / size_of(type)));
}

/// An array that is read, or written, in whole rows: where the rows begin.
struct RowOfArray {
  Var array;
  Expr base;
  friend bool operator==(const RowOfArray& a, const RowOfArray& b) {
    return a.array.symbol == b.array.symbol && a.base == b.base;
  }
};

/// The rows of arrays from outside that a loop reads or writes in every turn and does nothing else with, `near` elements
/// at once.
struct WideRows {
  std::vector<RowOfArray> read, written;

  WideRows(const For& loop, const Columns& columns, int near) {
    if (near == 1 || !is_unconditional(loop.body)) return;
    Changes inside = changes(loop.body);
    std::map<Symbol, int> stores, loads;
    each<Store>(loop.body, [&](const Store& n) { stores[n.array.symbol]++; });
    each<Load>(loop.body, [&](const Load& n) { loads[n.array.symbol]++; });
    auto add = [&](std::vector<RowOfArray>& to, const Var& array, const Expr& index) {
      auto base = base_of(index, loop);
      bool aligned = base && is_multiple(expanded(*base, columns.item), near);
      bool own = columns.accesses.is_own(array.symbol) || columns.kept.contains(array.symbol);
      if (!aligned || at_once(array.type.scalar) < near || own) return;
      RowOfArray row{array, *base};
      if (std::find(to.begin(), to.end(), row) == to.end()) to.push_back(row);
    };
    each<Load>(loop.body, [&](const Load& n) {
      if (n.lanes == 1 && !inside.arrays.contains(n.array.symbol)) add(read, n.array, n.index);
    });
    each<Store>(loop.body, [&](const Store& n) {
      bool plain = n.mode == StoreMode::Set && type_of(n.value).lanes == 1;
      if (plain && stores[n.array.symbol] == 1 && loads[n.array.symbol] == 0) add(written, n.array, n.index);
    });
  }
};

}  // namespace

int neighbours(const For& loop, const Columns& columns) {
  auto trips = trip_count(loop);
  for (int near : {4, 2})
    if (trips && *trips % (int64_t(columns.width) * near) == 0 && !WideRows(loop, columns, near).read.empty())
      return near;
  return 1;
}

Stmt Columns::operator()(const For& loop) const {
  ScalarType counter = loop.var.type.scalar;
  std::string name = loop.var.symbol.name();
  auto number = [&](int64_t value) { return literal(ir::Scalar::integer(counter, value)); };
  auto trips = trip_count(loop);
  int64_t group = int64_t(width) * near;
  Var turn = var(name + "q", loop.var.type), first = var(name + "_first", loop.var.type),
      next = var(name + "_next", loop.var.type);
  Expr begin = (Expr(turn) * number(width) + cast(counter, lane)) * number(near);
  bool several = near > 1;

  WideRows rows(loop, *this, near);
  std::map<Symbol, std::vector<std::pair<Expr, Var>>> nears;
  std::vector<Stmt> before, after;
  auto near_of = [&](const RowOfArray& row) {
    Var out = var(row.array.symbol.name() + "_near", array_of(row.array.type.scalar));
    nears[row.array.symbol].emplace_back(row.base, out);
    before.push_back(Allocate{out, int64(near), Fill::Uninitialised});
    return out;
  };
  for (const RowOfArray& row : rows.read)
    before.push_back(store(near_of(row), 0, load(row.array, row.base + Expr(first), near)));
  for (const RowOfArray& row : rows.written)
    after.push_back(store(row.array, row.base + Expr(first), load(near_of(row), 0, near)));
  auto near_row = [&](const Var& array, const Expr& index) -> const Var* {
    auto found = nears.find(array.symbol);
    auto base = found == nears.end() ? std::nullopt : base_of(index, loop);
    if (!base) return nullptr;
    for (const auto& [begins, var] : found->second)
      if (begins == *base) return &var;
    return nullptr;
  };

  // Arrays of the lane's own are numbered by its turns.
  auto is_split = [&](const Symbol& array) { return accesses.is_split(array) || kept.contains(array); };
  Expr own = several ? Expr(turn) * number(near) + Expr(next) : Expr(turn);
  Stmt body = rewrite(
      loop.body,
      [&](const Load& n) -> Expr {
        if (is_split(n.array.symbol)) return Load{n.array, own, n.lanes};
        const Var* found = near_row(n.array, n.index);
        return found ? Expr(Load{*found, next}) : Expr(n);
      },
      [&](const Store& n) -> Stmt {
        if (is_split(n.array.symbol)) return Store{n.mode, n.array, own, n.value};
        const Var* found = near_row(n.array, n.index);
        return found ? Stmt(Store{n.mode, *found, next, n.value}) : Stmt(n);
      });
  bool whole = trips && *trips % group == 0;
  if (!whole) body = If{Expr(loop.var) < loop.hi, body, {}};
  Stmt inside = Block{{Declare{loop.var, several ? Expr(first) + Expr(next) : begin, Mutability::Const}, body}};
  if (several) {
    before.insert(before.begin(), Declare{first, begin, Mutability::Const});
    before.push_back(For{next, number(0), number(near), number(1), inside, LoopKind::Serial, 0});
    before.insert(before.end(), after.begin(), after.end());
    inside = Block{before};
  }
  Expr end = (loop.hi + number(group - 1)) / number(group);
  constexpr int64_t most_unrolled = 16;
  bool short_enough = trips && *trips <= most_unrolled * width;
  return For{turn, number(0), end, number(1), inside, LoopKind::Serial, short_enough ? 0 : 1};
}

}  // namespace spdistal::passes
