// accumulate: a loop that adds to one and the same element of an array adds to a variable instead; one that adds to the
// same short row, to a small local array (which `vectorize` then keeps in registers).
//
//   requires  nothing
//   ensures   the same sums in the same order (atomic additions have none); the element is loaded and stored once per
//             loop, or added to atomically once
//
//   for p in lo .. hi                      if lo < hi
//     a[i] += B[p] * c[B_crd[p]]     →       var sum: double = a[i]
//                                            for p in lo .. hi
//                                              sum = sum + B[p] * c[B_crd[p]]
//                                            a[i] = sum
//
//   for p in lo .. hi                                if lo < hi
//     for k in 0 .. 32 vector                          allocate sums: double[32]
//       A[i * 32 + k] += B[p] * C[…]          →        for k in 0 .. 32 vector
//                                                        sums[k] = A[i * 32 + k]
//                                                      for p in lo .. hi
//                                                        for k in 0 .. 32 vector
//                                                          sums[k] += B[p] * C[…]
//                                                      for k in 0 .. 32 vector
//                                                        A[i * 32 + k] = sums[k]
//
// Atomic additions are summed from zero, and the sum is added atomically. The guard is left out where the loop surely runs. It is needed: an element that no turn touches may be another
// thread's, or not exist. Where the row was zeroed just before, it is this thread's; the sums then start at zero, are
// kept through all the loops that follow, and the row is written once.
//
//   for k in 0 .. 32                                   allocate sums: double[32] zeroed
//     A[i * 32 + k] = 0                                for p in lo .. hi
//   for p in lo .. hi                         →          for q in …
//     for q in …                                           for k in 0 .. 32 vector
//       for k in 0 .. 32 vector                              sums[k] += B[q] * C[…]
//         A[i * 32 + k] += B[q] * C[…]                 for k in 0 .. 32 vector
//                                                        A[i * 32 + k] = sums[k]
#include <algorithm>
#include <functional>

#include "ir/analysis.hpp"
#include "ir/build.hpp"
#include "ir/substitute.hpp"
#include "passes/pass.hpp"

namespace spdistal::passes {

using namespace ir;

namespace {

constexpr int64_t longest_row = 64;

/// The one addition that can be taken out of a loop.
struct Addition {
  Store store;
  std::optional<For> row;  // the loop of constant length around it, in whose variable the index is linear
};

/// index == base + k with base free of k.
std::optional<Expr> base_of(const Expr& index, const Var& k) {
  auto is_k = [&](const Expr& e) {
    auto* cast = e.as<Cast>();
    return e == Expr(k) || (cast && cast->value == Expr(k));
  };
  if (is_k(index)) return zero(type_of(index));
  auto* sum = index.as<Binary>();
  if (!sum || sum->op != BinaryOp::Add) return {};
  Changes own{{k.symbol}, {}};
  if (is_k(sum->b) && !own.touches(sum->a)) return sum->a;
  if (is_k(sum->a) && !own.touches(sum->b)) return sum->b;
  return {};
}

/// The stores that run in every turn of a loop, with the row loop they stand in, if any.
void always_stored(const Stmt& s, const For* row, std::vector<Addition>& out) {
  if (auto* n = s.as<Store>(); n && adds(n->mode)) out.push_back({*n, row ? std::optional(*row) : std::nullopt});
  if (auto* n = s.as<Block>())
    for (const Stmt& inner : n->stmts) always_stored(inner, row, out);
  if (auto* n = s.as<For>(); n && !row && trip_count(*n).value_or(0) > 0 && *trip_count(*n) <= longest_row)
    if (constant_integer(n->lo) == 0 && constant_integer(n->step) == 1 &&
        (n->kind == LoopKind::Serial || n->kind == LoopKind::Vector))
      always_stored(n->body, n, out);
}

std::optional<Addition> find(const For& loop) {
  bool breaks = false;
  each<Break>(loop.body, [&](const Break&) { breaks = true; });
  if (breaks || (loop.kind != LoopKind::Serial && loop.kind != LoopKind::Vector)) return {};
  Changes changed = changes(loop.body);
  changed.variables.insert(loop.var.symbol);
  std::map<Symbol, int> used = uses(loop.body);
  std::vector<Addition> found;
  always_stored(loop.body, nullptr, found);
  for (const Addition& a : found) {
    if (used[a.store.array.symbol] != 1) continue;
    if (!changed.touches(a.store.index)) return Addition{a.store, {}};
    if (!a.row) continue;
    auto base = base_of(a.store.index, a.row->var);
    if (base && !changed.touches(*base)) return a;
  }
  return {};
}

Stmt replace_store(const Stmt& body, const Var& array, const std::function<Stmt(const Store&)>& by) {
  return rewrite(body, [&](const Store& n) -> Stmt { return n.array.symbol == array.symbol ? by(n) : Stmt(n); });
}

Stmt one_element(const For& loop, const Store& add) {
  bool atomic = add.mode == StoreMode::AtomicAdd;
  Var sum = var("sum", add.array.type.element());
  Stmt body = replace_store(loop.body, add.array, [&](const Store& n) -> Stmt {
    return Assign{sum, binary(BinaryOp::Add, sum, n.value)};
  });
  return Block{{Declare{sum, atomic ? zero(sum.type) : load(add.array, add.index), Mutability::Mutable},
                For{loop.var, loop.lo, loop.hi, loop.step, body, loop.kind, loop.unroll},
                store(add.array, add.index, sum, atomic ? StoreMode::AtomicAdd : StoreMode::Set)}};
}

Stmt one_row(const For& loop, const Store& add, const For& row) {
  Var sums = var("sums", array_of(add.array.type.scalar));
  const Var& k = row.var;
  Stmt body = replace_store(loop.body, add.array, [&](const Store& n) -> Stmt {
    return Store{StoreMode::Add, sums, k, n.value};
  });
  auto copy = [&](const std::function<Stmt(const Var&, const Expr&)>& what) -> Stmt {
    Var own = var(k.symbol.name(), k.type);
    return For{own, row.lo, row.hi, row.step, what(own, substitute(add.index, {{k.symbol, own}})), row.kind, 1};
  };
  For changed{loop.var, loop.lo, loop.hi, loop.step, body, loop.kind, loop.unroll};
  if (add.mode == StoreMode::AtomicAdd) {
    // The sums are nobody else's: where they are all that the row's loop makes, it can be a vector loop.
    bool alone = true;
    std::function<void(const Stmt&)> look = [&](const Stmt& s) {
      auto* declared = s.as<Declare>();
      if (auto* block = s.as<Block>()) std::for_each(block->stmts.begin(), block->stmts.end(), look);
      else alone &= s.is<Store>() || s.is<Comment>() || (declared && declared->mutability == Mutability::Const);
    };
    look(row.body);
    LoopKind kind = alone ? LoopKind::Vector : LoopKind::Serial;
    Stmt vectors = rewrite(Stmt(changed), [&](const For& n) -> Stmt {
      if (n.var.symbol != k.symbol) return n;
      return For{n.var, n.lo, n.hi, n.step, n.body, kind, n.unroll};
    });
    // A copy of the sums is added, so that they themselves stay in registers.
    Var row_sums = var("row", sums.type), own = var(k.symbol.name(), k.type);
    return Block{{Allocate{sums, row.hi, Fill::Zeroed}, vectors, Allocate{row_sums, row.hi, Fill::Uninitialised},
                  For{own, row.lo, row.hi, row.step, store(row_sums, own, load(sums, own)), kind, 1},
                  copy([&](const Var& at, const Expr& index) {
                    return store(add.array, index, load(row_sums, at), StoreMode::AtomicAdd);
                  })}};
  }
  return Block{{Allocate{sums, row.hi, Fill::Uninitialised},
                copy([&](const Var& own, const Expr& index) { return store(sums, own, load(add.array, index)); }),
                changed,
                copy([&](const Var& own, const Expr& index) { return store(add.array, index, load(sums, own)); })}};
}

/// A loop that zeroes a short row: its store, whose index is linear in the loop's variable.
const Store* zeroes_row(const For& loop) {
  const Stmt* body = &loop.body;
  while (body->is<Block>() && body->as<Block>()->stmts.size() == 1) body = &body->as<Block>()->stmts[0];
  auto* n = body->as<Store>();
  auto trips = trip_count(loop);
  if (!n || n->mode != StoreMode::Set || !trips || *trips < 1 || *trips > longest_row) return nullptr;
  if (constant_integer(loop.lo) != 0 || constant_integer(loop.step) != 1) return nullptr;
  return n->value == zero(type_of(n->value)) ? n : nullptr;
}

/// The one addition to the row that `zeroes` clears, if a statement has one and does nothing else with the array.
std::optional<Addition> only_addition(const Stmt& s, const For& zeroes, const Store& zeroed) {
  bool serial = s.is<For>() && uses(s)[zeroed.array.symbol] == 1;
  each<Parallel>(s, [&](const Parallel&) { serial = false; });
  each<For>(s, [&](const For& n) { serial &= n.kind == LoopKind::Serial || n.kind == LoopKind::Vector; });
  auto base = base_of(zeroed.index, zeroes.var);
  if (!serial || !base || changes(s).touches(*base)) return {};
  std::optional<Addition> out;
  each<For>(s, [&](const For& row) {
    std::vector<Addition> here;
    if (trip_count(row) == trip_count(zeroes)) always_stored(row, nullptr, here);
    for (const Addition& a : here)
      if (a.row && a.row->var.symbol == row.var.symbol && a.store.mode == StoreMode::Add &&
          a.store.array.symbol == zeroed.array.symbol && base_of(a.store.index, row.var) == base)
        out = a;
  });
  return out;
}

/// Zeroed rows of a block that one later statement adds to.
Stmt zeroed_rows(const Block& n) {
  std::vector<Stmt> stmts = n.stmts;
  for (size_t at = 0; at < stmts.size(); at++) {
    auto* zeroes = stmts[at].as<For>();
    const Store* zeroed = zeroes ? zeroes_row(*zeroes) : nullptr;
    if (!zeroed) continue;
    size_t next = at + 1;
    // What stands between neither uses the row nor moves it.
    auto passes_by = [&](const Stmt& s) {
      Changes changed = changes(s);
      return !changed.arrays.contains(zeroed->array.symbol) && uses(s)[zeroed->array.symbol] == 0 &&
             !changed.touches(zeroed->index);
    };
    while (next < stmts.size() && passes_by(stmts[next])) next++;
    if (next == stmts.size()) continue;
    auto add = only_addition(stmts[next], *zeroes, *zeroed);
    if (!add) continue;
    Var sums = var("sums", array_of(zeroed->array.type.scalar));
    Var k = var(add->row->var.symbol.name(), zeroes->var.type);
    Stmt loops = replace_store(stmts[next], zeroed->array, [&](const Store& old) -> Stmt {
      return Store{StoreMode::Add, sums, add->row->var, old.value};
    });
    Expr index = substitute(zeroed->index, {{zeroes->var.symbol, k}});
    Stmt write =
        For{k, zeroes->lo, zeroes->hi, zeroes->step, store(zeroed->array, index, load(sums, k)), add->row->kind, 1};
    stmts[next] = Block{{Allocate{sums, zeroes->hi, Fill::Zeroed}, loops, write}};
    stmts.erase(stmts.begin() + long(at--));
  }
  return Block{std::move(stmts)};
}

}  // namespace

Function accumulate(const Function& original, const Target&) {
  Function f{original.name, original.params, rewrite(original.body, [](const Block& n) { return zeroed_rows(n); })};
  // Local arrays of constant size are what this makes; they are left alone.
  std::set<Symbol> local;
  each<Allocate>(f.body, [&](const Allocate& n) {
    if (constant_integer(n.count)) local.insert(n.array.symbol);
  });
  Stmt body = rewrite(f.body, [&](const For& n) -> Stmt {
    auto add = find(n);
    if (!add || local.contains(add->store.array.symbol)) return n;
    if (!add->row && n.kind == LoopKind::Serial && trip_count(n).value_or(2) <= 1) return n;
    Stmt changed = add->row ? one_row(n, add->store, *add->row) : one_element(n, add->store);
    if (trip_count(n).value_or(0) > 0) return changed;
    return If{binary(BinaryOp::Lt, n.lo, n.hi), changed, {}};
  });
  return {f.name, f.params, body};
}

}  // namespace spdistal::passes
