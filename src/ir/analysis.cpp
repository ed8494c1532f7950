#include "ir/analysis.hpp"

#include <algorithm>

#include "ir/build.hpp"

namespace spdistal::ir {

bool is_empty(const Stmt& s) {
  auto* block = s.as<Block>();
  return s.is<Comment>() || (block && std::all_of(block->stmts.begin(), block->stmts.end(), is_empty));
}

bool Changes::touches(const Expr& e) const {
  bool touched = by_others && has_loads(e);
  each<Var>(e, [&](const Var& v) { touched |= variables.contains(v.symbol); });
  each<Load>(e, [&](const Load& n) { touched |= arrays.contains(n.array.symbol); });
  each<Search>(e, [&](const Search& n) { touched |= arrays.contains(n.array.symbol); });
  return touched;
}

Changes changes(const Stmt& s) {
  Changes out;
  each<Declare>(s, [&](const Declare& n) { out.variables.insert(n.var.symbol); });
  each<Assign>(s, [&](const Assign& n) { out.variables.insert(n.var.symbol); });
  each<Claim>(s, [&](const Claim& n) { out.variables.insert(n.found.symbol), out.arrays.insert(n.array.symbol); });
  each<For>(s, [&](const For& n) { out.variables.insert(n.var.symbol); });
  each<Parallel>(s, [&](const Parallel& n) { out.variables.insert(n.share.symbol); });
  each<Store>(s, [&](const Store& n) { out.arrays.insert(n.array.symbol); });
  each<Sort>(s, [&](const Sort& n) { out.arrays.insert(n.array.symbol); });
  each<Resize>(s, [&](const Resize& n) { out.arrays.insert(n.array.symbol); });
  each<Append>(s, [&](const Append& n) { out.arrays.insert(n.to.symbol); });
  each<Allocate>(s, [&](const Allocate& n) { out.arrays.insert(n.array.symbol); });
  each<Perform>(s, [&](const Perform& n) {
    for (const Var& place : n.places) (place.type.is_array() ? out.arrays : out.variables).insert(place.symbol);
  });
  each<Barrier>(s, [&](const Barrier&) { out.by_others = true; });
  return out;
}

namespace {

// Calls f with every variable that is mentioned, also as a member of a node.
template <class T, class F>
void each_mention(const T& value, F& f) {
  if constexpr (std::is_same_v<T, Var>) f(value);
  else if constexpr (detail::is_handle<T>) std::visit([&](const auto& node) { each_mention(node, f); }, *value);
  else if constexpr (detail::is_vector<T>)
    for (const auto& item : value) each_mention(item, f);
  else if constexpr (detail::is_optional<T>) {
    if (value) each_mention(*value, f);
  } else if constexpr (detail::Record<T>) {
    for_each_field(value, [&](const auto& member) { each_mention(member, f); });
  }
}

}  // namespace

std::vector<Var> free_variables(const Stmt& s) {
  std::set<Symbol> known;
  each<Declare>(s, [&](const Declare& n) { known.insert(n.var.symbol); });
  each<Allocate>(s, [&](const Allocate& n) { known.insert(n.array.symbol); });
  each<For>(s, [&](const For& n) { known.insert(n.var.symbol); });
  each<Parallel>(s, [&](const Parallel& n) { known.insert(n.share.symbol); });
  each<Define>(s, [&](const Define& n) {
    for (const Var& v : n.values) known.insert(v.symbol);
    for (const Var& v : n.places) known.insert(v.symbol);
  });
  std::vector<Var> out;
  auto note = [&](const Var& v) {
    if (known.insert(v.symbol).second) out.push_back(v);
  };
  each_mention(s, note);
  return out;
}

std::map<Symbol, int> uses(const Stmt& s) {
  std::map<Symbol, int> out;
  each<Var>(s, [&](const Var& v) { out[v.symbol]++; });
  each<Load>(s, [&](const Load& n) { out[n.array.symbol]++; });
  each<Search>(s, [&](const Search& n) { out[n.array.symbol]++; });
  each<Store>(s, [&](const Store& n) { out[n.array.symbol]++; });
  each<Sort>(s, [&](const Sort& n) { out[n.array.symbol]++; });
  each<Claim>(s, [&](const Claim& n) { out[n.array.symbol]++, out[n.found.symbol]++; });
  each<Resize>(s, [&](const Resize& n) { out[n.array.symbol]++; });
  each<Shrink>(s, [&](const Shrink& n) { out[n.array.symbol]++; });
  each<Append>(s, [&](const Append& n) { out[n.to.symbol]++, out[n.from.symbol]++; });
  each<Prefetch>(s, [&](const Prefetch& n) { out[n.array.symbol]++; });
  each<Perform>(s, [&](const Perform& n) {
    for (const Var& place : n.places) out[place.symbol]++;
  });
  return out;
}

bool runs_on_gpu(const Stmt& s) {
  bool found = false;
  each<For>(s, [&](const For& n) { found |= is_gpu(n.kind); });
  return found;
}

int size(const Expr& e) {
  int n = 1;
  children(e, [&](const auto& child) {
    if constexpr (std::is_same_v<std::decay_t<decltype(child)>, Expr>) n += size(child);
  });
  return n;
}

bool has_loads(const Expr& e) { return holds<Load, Search>(e); }

bool takes_warp(const Expr& e) { return holds<Shuffle, WarpReduce, WarpScan, WarpVote>(e); }

std::vector<Symbol> declared_in(const Stmt& s) {
  std::vector<Symbol> out;
  each<Declare>(s, [&](const Declare& n) { out.push_back(n.var.symbol); });
  each<Allocate>(s, [&](const Allocate& n) { out.push_back(n.array.symbol); });
  each<For>(s, [&](const For& n) { out.push_back(n.var.symbol); });
  return out;
}

std::vector<Var> assigned_outside(const Stmt& s) {
  std::set<Symbol> declared, seen;
  std::vector<Var> out;
  each<Declare>(s, [&](const Declare& n) { declared.insert(n.var.symbol); });
  each<Assign>(s, [&](const Assign& n) {
    if (!declared.contains(n.var.symbol) && seen.insert(n.var.symbol).second) out.push_back(n.var);
  });
  return out;
}

bool is_safe_anywhere(const Expr& e) {
  bool safe = !has_loads(e) && !takes_warp(e);
  each<Binary>(e, [&](const Binary& n) {
    bool divides = n.op == BinaryOp::Mod || (n.op == BinaryOp::Div && is_integral(type_of(n.a).scalar));
    auto by = constant_integer(n.b);
    if (divides && (!by || *by == 0)) safe = false;
  });
  return safe;
}

std::optional<Var> carried_variable(const Stmt& body) {
  std::set<Symbol> own;
  each<Declare>(body, [&](const Declare& n) { own.insert(n.var.symbol); });
  std::map<Symbol, int> reads = uses(body), updates;
  std::map<Symbol, BinaryOp> by;
  std::optional<Var> carried;
  each<Assign>(body, [&](const Assign& n) {
    if (own.contains(n.var.symbol)) return;
    auto* update = n.value.as<Binary>();
    constexpr BinaryOp reductions[] = {BinaryOp::Add, BinaryOp::Sub, BinaryOp::Mul, BinaryOp::Min,
                                       BinaryOp::Max, BinaryOp::And, BinaryOp::Or};
    bool legal = update && update->a == Expr(n.var) &&
                 std::find(std::begin(reductions), std::end(reductions), update->op) != std::end(reductions) &&
                 by.emplace(n.var.symbol, update->op).first->second == update->op;
    // Each update reads the variable once; any other read would see a sum in the making.
    updates[n.var.symbol]++;
    if (!legal) carried = n.var;
  });
  each<Assign>(body, [&](const Assign& n) {
    if (!own.contains(n.var.symbol) && reads[n.var.symbol] != updates[n.var.symbol]) carried = n.var;
  });
  return carried;
}

std::optional<int64_t> trip_count(const For& loop) {
  auto lo = constant_integer(loop.lo), hi = constant_integer(loop.hi), step = constant_integer(loop.step);
  if (!lo || !hi || !step || *step <= 0) return {};
  return *hi <= *lo ? 0 : (*hi - *lo - 1) / *step + 1;
}

}  // namespace spdistal::ir
