// outer vectors: a vector loop with loops inside runs these once for several of its turns, the lanes. What differs from lane
// to lane is kept in small local arrays with an element for each, which `vectorize` then keeps in registers.
//
//   requires  nothing
//   ensures   no vector loop holds a loop; the same results to the last bit: every turn computes what it did
//
//   for k in 0 .. 16 vector                       allocate sum: double[16] zeroed
//     var sum: double = 0.0                       for p in lo .. hi
//     for p in lo .. hi                     →       for k in 0 .. 16 vector
//       sum = sum + B[p] * C[crd[p] * 16 + k]         sum[k] += B[p] * C[crd[p] * 16 + k]
//     A[i * 16 + k] = sum                         for k in 0 .. 16 vector
//                                                   A[i * 16 + k] = sum[k]
//
// Many turns are taken in strips, of a few registers and then of one, and those that are left over one by one. Lanes keep step:
// the bounds of loops inside, and conditions around them, are the same for all. Other vector loops with loops inside become
// serial.
#include <algorithm>
#include <bit>

#include "ir/analysis.hpp"
#include "ir/build.hpp"
#include "ir/substitute.hpp"
#include "passes/pass.hpp"
#include "passes/registers.hpp"

namespace spdistal::passes {

using namespace ir;

namespace {

bool has_loop(const Stmt& s) { return holds<For, While>(s); }

/// What differs between the turns of a loop, and whether all else can be done once for many of them.
class Differences {
 public:
  explicit Differences(const For& loop) : symbols_{loop.var.symbol} {
    for (size_t before = 0; before != symbols_.size();) {
      before = symbols_.size();
      possible_ = assigned_outside(loop.body).empty() && look(loop.body, Together::Yes);
    }
  }

  bool possible() const { return possible_; }
  bool in(const Expr& e) const { return Changes{symbols_, {}}.touches(e); }
  bool in(const Var& v) const { return symbols_.contains(v.symbol); }

 private:
  /// Do all turns come here, or those alone that some condition holds for?
  enum class Together : uint8_t { Yes, No };

  bool look(const Stmt& s, Together together) {
    if (s.is<Comment>() || s.is<Prefetch>()) return true;
    if (auto* n = s.as<Store>()) return !is_atomic(n->mode);
    if (auto* n = s.as<Declare>()) return note(n->var, in(n->init));
    if (auto* n = s.as<Assign>()) return note(n->var, together == Together::No || in(n->value));
    if (s.is<Break>()) return together == Together::Yes;
    if (auto* n = s.as<Block>())
      return std::all_of(n->stmts.begin(), n->stmts.end(), [&](const Stmt& inner) { return look(inner, together); });
    if (auto* n = s.as<If>()) {
      Together inside = in(n->cond) ? Together::No : together;
      return look(n->then, inside) && (!n->otherwise || look(*n->otherwise, inside));
    }
    if (auto* n = s.as<For>())
      return together == Together::Yes && !in(n->lo) && !in(n->hi) && !in(n->step) && look(n->body, together);
    auto* n = s.as<While>();
    return n && together == Together::Yes && !in(n->cond) && look(n->body, together);
  }

  bool note(const Var& v, bool differs) {
    if (differs) symbols_.insert(v.symbol);
    return true;
  }

  std::set<Symbol> symbols_;
  bool possible_ = false;
};

/// Indices that differ from lane to lane, written where they are used: they are cheaper to find again than to keep.
Stmt with_indices_written_out(const Stmt& body, const Differences& differences) {
  Changes assigned;
  each<Declare>(body, [&](const Declare& n) {
    if (n.mutability == Mutability::Mutable) assigned.variables.insert(n.var.symbol);
  });
  std::map<Symbol, Expr> by;
  each<Declare>(body, [&](const Declare& n) {
    bool index = n.mutability == Mutability::Const && is_integral(n.var.type.scalar) && differences.in(n.var);
    if (index && is_safe_anywhere(n.init) && !assigned.touches(n.init))
      by.emplace(n.var.symbol, substitute(n.init, by));
  });
  return rewrite(substitute(body, by), [&](const Block& n) -> Stmt {
    std::vector<Stmt> out;
    for (const Stmt& s : n.stmts)
      if (auto* d = s.as<Declare>(); !d || !by.contains(d->var.symbol)) out.push_back(s);
    return Block{std::move(out)};
  });
}

/// The body of a vector loop, cut at the loops inside of it: between them stand vector loops over a number of lanes.
class InStep {
 public:
  InStep(const For& loop, const Differences& differences) : loop_(loop), differences_(differences) {
    body_ = with_indices_written_out(loop.body, differences);
    made(int64(0), 1);  // finds out what is used on both sides of a cut
  }

  /// How many variables are kept for each lane.
  size_t kept() const { return kept_.size(); }

  /// The lanes from `first` on.
  Stmt made(const Expr& first, int64_t lanes) {
    first_ = first;
    lanes_ = lanes;
    part_ = 0;
    arrays_.clear();
    for (const Var& v : kept_) arrays_.emplace(v.symbol, var(v.symbol.name(), array_of(v.type.scalar)));
    return with_fresh_variables(inside(body_));
  }

 private:
  /// Adds a statement behind those of `out` and the lanes' own ones in `open`.
  void stmt(const Stmt& s, std::vector<Stmt>& out, std::vector<Stmt>& open) {
    if (auto* n = s.as<Block>(); n && !has_loop(s) && !holds<Declare>(s)) {
      for (const Stmt& inner : n->stmts) stmt(inner, out, open);
    } else if (n) {
      close(out, open);
      out.push_back(inside(s));
    } else if (auto* d = s.as<Declare>()) {
      declare(*d, s, out, open);
    } else if (auto* a = s.as<Assign>(); a && !differences_.in(a->var)) {
      close(out, open);
      out.push_back(s);
    } else if (auto* f = s.as<For>()) {
      close(out, open);
      LoopKind kind = f->kind == LoopKind::Vector ? LoopKind::Serial : f->kind;
      out.push_back(For{f->var, f->lo, f->hi, f->step, inside(f->body), kind, f->unroll});
    } else if (auto* w = s.as<While>()) {
      close(out, open);
      out.push_back(While{w->cond, inside(w->body)});
    } else if (auto* i = s.as<If>(); i && !differences_.in(i->cond)) {
      close(out, open);
      std::optional<Stmt> otherwise;
      if (i->otherwise) otherwise = inside(*i->otherwise);
      out.push_back(If{i->cond, inside(i->then), otherwise});
    } else if (s.is<Break>()) {
      close(out, open);
      out.push_back(s);
    } else {
      open.push_back(s);
    }
  }

  Stmt inside(const Stmt& s) {
    std::vector<Stmt> out, open;
    if (auto* block = s.as<Block>())
      for (const Stmt& inner : block->stmts) stmt(inner, out, open);
    else stmt(s, out, open);
    close(out, open);
    return Block{std::move(out)};
  }

  void declare(const Declare& n, const Stmt& s, std::vector<Stmt>& out, std::vector<Stmt>& open) {
    if (!differences_.in(n.var)) {
      // A constant may stand in front of what lanes do before, unless they change it.
      if (n.mutability == Mutability::Mutable || changes(Block{open}).touches(n.init)) close(out, open);
      out.push_back(s);
      return;
    }
    auto it = arrays_.find(n.var.symbol);
    bool kept = it != arrays_.end(), zeroed = kept && n.init == zero(n.var.type);
    if (kept)
      out.push_back(Allocate{it->second, literal(ir::Scalar::integer(ScalarType::Int64, lanes_)),
                             zeroed ? Fill::Zeroed : Fill::Uninitialised});
    if (!zeroed) open.push_back(s);
    declared_in_[n.var.symbol] = part_;
  }

  /// Ends a part: the vector loop over what lanes have done since the last cut.
  void close(std::vector<Stmt>& out, std::vector<Stmt>& open) {
    if (!is_empty(Block{open})) {
      for (const Var& v : free_variables(Block{open})) note_use(v);
      Var lane = var(loop_.var.symbol.name(), loop_.var.type);
      Expr at = constant_integer(first_) == 0 ? Expr(lane) : binary(BinaryOp::Add, first_, lane);
      Stmt body = substitute(of_lane(Block{open}, lane), {{loop_.var.symbol, at}});
      out.push_back(For{lane, integer(0), integer(lanes_), integer(1), body, LoopKind::Vector, 1});
    }
    open.clear();
    part_++;
  }

  void note_use(const Var& v) {
    auto it = declared_in_.find(v.symbol);
    bool known = std::any_of(kept_.begin(), kept_.end(), [&](const Var& k) { return k.symbol == v.symbol; });
    if (it != declared_in_.end() && it->second != part_ && !known) kept_.push_back(v);
  }

  /// Elements of arrays in the place of variables that are kept.
  Stmt of_lane(const Stmt& s, const Var& lane) const {
    std::map<Symbol, Expr> elements;
    for (const auto& [symbol, array] : arrays_) elements.emplace(symbol, load(array, lane));
    auto stored = [&](const Var& v, const Expr& value) -> std::optional<Stmt> {
      auto it = arrays_.find(v.symbol);
      if (it == arrays_.end()) return {};
      auto* sum = value.as<Binary>();
      if (sum && sum->op == BinaryOp::Add && sum->a == elements.at(v.symbol))
        return store(it->second, lane, sum->b, StoreMode::Add);
      return store(it->second, lane, value);
    };
    return rewrite(
        substitute(s, elements), [&](const Declare& n) -> Stmt { return stored(n.var, n.init).value_or(n); },
        [&](const Assign& n) -> Stmt { return stored(n.var, n.value).value_or(n); });
  }

  Expr integer(int64_t value) const { return literal(ir::Scalar::integer(loop_.var.type.scalar, value)); }

  const For& loop_;
  const Differences& differences_;
  Stmt body_ = Block{};
  std::vector<Var> kept_;
  std::map<Symbol, Var> arrays_;
  std::map<Symbol, int> declared_in_;  // which part
  Expr first_ = int64(0);
  int64_t lanes_ = 1;
  int part_ = 0;
};

using Constants = std::map<Symbol, Expr>;

/// The most turns that a loop has, where that is known: hi = min(lo + 16, …).
std::optional<int64_t> most_turns(const For& loop, const Constants& constants) {
  if (auto trips = trip_count(loop)) return trips;
  Expr hi = loop.hi;
  if (auto* v = hi.as<Var>())
    if (auto it = constants.find(v->symbol); it != constants.end()) hi = it->second;
  auto* least = hi.as<Binary>();
  if (!least || least->op != BinaryOp::Min) return {};
  for (const Expr& bound : {least->a, least->b}) {
    auto* sum = bound.as<Binary>();
    if (sum && sum->op == BinaryOp::Add && sum->a == loop.lo)
      if (auto turns = constant_integer(sum->b)) return turns;
  }
  return {};
}

/// The type that lanes compute in: what they store.
std::optional<ScalarType> type_of_lanes(const For& loop) {
  std::optional<ScalarType> out;
  each<Store>(loop.body, [&](const Store& n) { out = n.array.type.scalar; });
  return out && has_lanes(*out) ? out : std::nullopt;
}

/// How many lanes run together: all, or a few registers of them and then one; none where that is not worth while.
std::vector<int64_t> widths_of(const For& loop, size_t kept, const Target& target, const Constants& constants) {
  std::optional<ScalarType> type = type_of_lanes(loop);
  if (!type || constant_integer(loop.step) != 1) return {};
  // Half of the registers are for what is kept.
  int64_t registers = std::max(int64_t(1), registers_of(target.vector_bytes) / 2 / int64_t(std::max(kept, size_t(1))));
  if (int64_t turns = trip_count(loop).value_or(0); turns > 1) {
    int lanes = lanes_for(turns, *type, target.vector_bytes);
    if (lanes > 1 && turns / lanes <= registers) return {turns};
  }
  auto in_register = int64_t(size_t(target.vector_bytes) / size_of(*type));
  int64_t strip = std::min(registers, int64_t(4)) * in_register;
  if (auto most = most_turns(loop, constants)) strip = std::min(strip, *most);
  strip = int64_t(std::bit_floor(uint64_t(std::max(strip, int64_t(1)))));
  if (strip < 2) return {};
  return strip > in_register ? std::vector{strip, in_register} : std::vector{strip};
}

bool is_steady(const Expr& e) { return e.is<Literal>() || e.is<Var>(); }

Stmt in_strips(const For& loop, InStep& turns, const std::vector<int64_t>& widths) {
  const std::string name = loop.var.symbol.name();
  const Type type = loop.var.type;
  std::vector<Stmt> out;
  auto named = [&](const char* what, const Expr& e) -> Expr {
    if (is_steady(e)) return e;
    Var v = var(name + what, type);
    out.push_back(declare(v, e));
    return v;
  };
  Expr from = named("_start", loop.lo), end = named("_end", loop.hi);
  for (int64_t width : widths) {
    Expr lanes = literal(ir::Scalar::integer(type.scalar, width));
    Expr rest = binary(BinaryOp::Mod, binary(BinaryOp::Sub, end, from), lanes);
    Expr to = named("_whole", binary(BinaryOp::Sub, end, rest));
    Var first = var(name + "_first", type);
    For strips{first, from, to, lanes, turns.made(first, width)};
    auto count = trip_count(strips);
    // Few strips are written out: then it is known which parts of a row that is kept in registers they go over.
    if (count && *count <= 4) strips.unroll = 0;
    if (count == 1) out.push_back(turns.made(from, width));
    else if (count != 0) out.push_back(strips);
    from = to;
  }
  Var one = var(name, type);
  For rest{one, from, end, loop.step, with_fresh_variables(substitute(loop.body, {{loop.var.symbol, one}}))};
  if (trip_count(rest) != 0) out.push_back(rest);
  return block(std::move(out));
}

}  // namespace

Function outer_vectors(const Function& f, const Target& target) {
  Constants constants;
  each<Declare>(f.body, [&](const Declare& n) {
    if (n.mutability == Mutability::Const) constants.emplace(n.var.symbol, n.init);
  });
  Stmt body = rewrite(f.body, [&](const For& n) -> Stmt {
    if (n.kind != LoopKind::Vector || !has_loop(n.body)) return n;
    Differences differences(n);
    if (differences.possible()) {
      InStep turns(n, differences);
      std::vector<int64_t> widths = widths_of(n, turns.kept(), target, constants);
      if (!widths.empty()) return in_strips(n, turns, widths);
    }
    return For{n.var, n.lo, n.hi, n.step, n.body, LoopKind::Serial, n.unroll};
  });
  return {f.name, f.params, body};
}

}  // namespace spdistal::passes
