// prefetch: rows that are gathered by coordinates are asked for some turns before they are read, where they lie far
// from each other in an array that no cache holds.
//
//   requires  nothing
//   ensures   added are hints, and loads of coordinates that are there
//
//   for p in pos[i] .. pos[i + 1]                var crd_jumps: int32 = 0
//     const offset: int64 = crd[p] * 32          for s in 0 .. crd_count - 1 step crd_count / 64 + 1
//     … C[offset x 8] … C[offset + 24 x 8]   →     crd_jumps = crd_jumps + (abs(crd[s + 1] - crd[s]) > 64 ? 1 : -1)
//                                                const C_scattered: bool = C_rows > 65536 && crd_jumps > 0
//                                                for p in pos[i] .. pos[i + 1]
//                                                  if C_scattered
//                                                    const next: int64 = crd[min(p + 16, crd_count - 1)] * 32
//                                                    for k in 0 .. 32 step 8
//                                                      prefetch C[next + k]
//                                                  const offset: …
//
// Where rows are near each other they are in a cache already, and hints would be as many instructions as the work: a
// sample of the coordinates decides, once per call. The condition is the same in all turns, so that the C++ compiler makes
// two loops of an innermost one; of others the two are written out here. `p < crd_count - 16` in its place costs a tenth.
// Positions go on from one parent to the next, and so do the hints.
#include <algorithm>

#include "ir/analysis.hpp"
#include "ir/build.hpp"
#include "ir/substitute.hpp"
#include "passes/cursors.hpp"
#include "passes/pass.hpp"

namespace spdistal::passes {

using namespace ir;

namespace {

constexpr int64_t line_bytes = 64;
// Of a row; of a long one the first lines are asked for, and the processor goes on by itself.
constexpr int64_t fewest_lines = 2, most_lines = 8;
constexpr int64_t ahead = 16;  // turns; 8 and 32 gain as much
constexpr int64_t samples = 64;
constexpr int64_t jump_bytes = 1 << 14;  // from one row to the next, where they are far from each other

/// Elements base + [first, end) of an array: what one turn of a loop reads by a coordinate, which is crd[at].
struct Row {
  Var array, crd;
  Expr at, base;
  int64_t first, end;

  int64_t element() const { return int64_t(size_of(array.type.scalar)); }
  int64_t bytes() const { return (end - first) * element(); }
};

using PrefetchSources = std::map<Symbol, Source>;

/// The rows that a loop reads by coordinates at its variable, of arrays that nobody writes.
class GatheredRows {
 public:
  GatheredRows(const For& loop, const PrefetchSources& params) : loop_(loop), params_(params) {
    each<Declare>(loop.body, [&](const Declare& n) {
      if (n.mutability == Mutability::Const) constants_.emplace(n.var.symbol, substitute(n.init, constants_));
    });
    each<For>(loop.body, [&](const For& n) { inner_.emplace(n.var.symbol, n); });
    each<Load>(loop.body, [&](const Load& n) { add(n); });
    std::erase_if(rows, [](const Row& row) { return row.bytes() < fewest_lines * line_bytes; });
  }

  std::vector<Row> rows;

 private:
  void add(const Load& n) {
    if (!is_input(n.array, Source::Field::Vals)) return;
    Row row{n.array, n.array, n.index, n.index, 0, n.lanes};
    std::optional<Expr> base = without_constants(n.index, row);
    std::optional<Load> coordinates = base ? coordinates_in(*base) : std::nullopt;
    if (!coordinates) return;
    row.base = *base, row.crd = coordinates->array, row.at = without_cast(coordinates->index);
    for (Row& known : rows)
      if (known.array.symbol == row.array.symbol && known.base == row.base) {
        known.first = std::min(known.first, row.first), known.end = std::max(known.end, row.end);
        return;
      }
    rows.push_back(row);
  }

  bool is_input(const Var& array, Source::Field field) const {
    auto from = params_.find(array.symbol);
    return array.type.form == Type::Form::ConstArray && from != params_.end() && from->second.field == field;
  }

  /// The index without literals and variables of inner loops of known length, which move or widen the row; if anything.
  std::optional<Expr> without_constants(const Expr& e, Row& row) const {
    auto move = [&](int64_t first, int64_t last) -> std::optional<Expr> {
      row.first += first, row.end += last;
      return std::nullopt;
    };
    if (auto n = constant_integer(e)) return move(*n, *n);
    if (auto* v = e.as<Var>()) {
      if (auto it = constants_.find(v->symbol); it != constants_.end()) return without_constants(it->second, row);
      auto loop = inner_.find(v->symbol);
      auto trips = loop == inner_.end() ? std::nullopt : trip_count(loop->second);
      if (!trips) return e;
      int64_t lo = *constant_integer(loop->second.lo);
      return move(lo, lo + (*trips - 1) * *constant_integer(loop->second.step));
    }
    auto* sum = e.as<Binary>();
    if (!sum || sum->op != BinaryOp::Add) return substitute(e, constants_);
    auto a = without_constants(sum->a, row), b = without_constants(sum->b, row);
    return a && b ? *a + *b : a ? a : b;
  }

  /// The loop's variable, less where a piece begins: every turn is one further.
  bool moves_along(const Expr& index) const {
    Expr at = without_cast(index);
    if (auto* n = at.as<Binary>(); n && n->op == BinaryOp::Sub)
      if (auto* begin = n->b.as<Var>(); begin && params_.contains(begin->symbol)) at = without_cast(n->a);
    return is_at(at, loop_.var);
  }

  /// The load of coordinates, where it is all that is loaded, and each turn loads the next; the rest is known everywhere, and
  /// may be computed of any coordinate.
  std::optional<Load> coordinates_in(const Expr& base) const {
    std::optional<Load> out;
    bool legal = true;
    each<Load>(base, [&](const Load& n) {
      legal &= moves_along(n.index) && is_input(n.array, Source::Field::Coordinates);
      legal &= !out || Expr(*out) == Expr(n);
      out = n;
    });
    each<Var>(base, [&](const Var& v) { legal &= v.symbol == loop_.var.symbol || params_.contains(v.symbol); });
    each<Binary>(base, [&](const Binary& n) { legal &= n.op <= BinaryOp::Mul; });
    each<Search>(base, [&](const Search&) { legal = false; });
    return legal ? out : std::nullopt;
  }

  const For& loop_;
  const PrefetchSources& params_;
  std::map<Symbol, Expr> constants_;
  std::map<Symbol, For> inner_;
};

class Prefetcher {
 public:
  Prefetcher(const Function& f, const Target& target) : target_(target), params_(f.params) {
    for (const Param& p : f.params) sources_.emplace(p.var.symbol, p.source);
    each<For>(f.body, [&](const For& n) { find_tree(n); });
  }

  Stmt loop(const For& n) {
    if (n.kind != LoopKind::Serial || constant_integer(n.step) != 1 || trip_count(n)) return n;
    if (in_trees_.contains(n.var.symbol)) return n;
    std::vector<Row> rows = GatheredRows(n, sources_).rows;
    if (rows.empty()) return n;
    auto with = [&](const std::function<void(Body&)>& hints) {
      Body body;
      hints(body);
      splice(body, n.body);
      return For{n.var, n.lo, n.hi, n.step, body.build(), n.kind, n.unroll};
    };
    // Of an innermost loop the C++ compiler makes two; of others it takes the condition along.
    bool innermost = true;
    each<For>(n.body, [&](const For&) { innermost = false; });
    if (!innermost && rows.size() == 1)
      return If{scattered(n, rows[0]), with_fresh_variables(with([&](Body& body) { hint(body, rows[0]); })), Stmt(n)};
    return with([&](Body& body) {
      for (const Row& row : rows) body.when(scattered(n, row), [&] { hint(body, row); });
    });
  }

  /// The function with this body, and before it what decides on hints.
  Function function(const Function& f, const Stmt& body) {
    if (jumps_.empty()) return f;
    splice(start_, body);
    return {f.name, params_, start_.build()};
  }

 private:
  static void splice(Body& to, const Stmt& s) {
    auto* block = s.as<Block>();
    if (!block) return to.add(s);
    for (const Stmt& inner : block->stmts) to.add(inner);
  }

  /// Loops over the positions of two levels. The inner ones are short, a turn or two: the condition alone costs a tenth.
  void find_tree(const For& outer) {
    bool over_positions = false;
    each<Load>(outer.body, [&](const Load& n) {
      auto from = sources_.find(n.array.symbol);
      over_positions |=
          from != sources_.end() && from->second.field == Source::Field::Coordinates && is_at(n.index, outer.var);
    });
    if (!over_positions) return;
    each<For>(outer.body, [&](const For& inner) {
      if (!trip_count(inner)) in_trees_.insert({outer.var.symbol, inner.var.symbol});
    });
  }

  void hint(Body& body, const Row& row) {
    int64_t line = line_bytes / row.element(), end = std::min(row.end, row.first + most_lines * line);
    Expr later = min(wide(row.at) + ahead, count(row.crd) - 1);
    Var next = body.constant("next", rewrite(row.base, [&](const Load& n) { return load(n.array, later); }));
    auto number = [&](int64_t n) { return literal(ir::Scalar::integer(next.type.scalar, n)); };
    body.loop("k", number(row.first), number(end), [&](Var k) { body.prefetch(row.array, next + k); },
              {.step = number(line)});
  }

  /// Whether hints are worth it.
  Var scattered(const For& loop, const Row& row) {
    for (const auto& [known, answer] : scattered_)
      if (known.array.symbol == row.array.symbol && known.crd.symbol == row.crd.symbol) return answer;
    // While vectors are added lane by lane, the processor is at the rows of turns that follow: it needs hints only where
    // these come from memory. A sum across lanes keeps it busy.
    int64_t cache_bytes = target_.shared_cache_bytes;
    each<For>(loop.body, [&](const For& n) {
      if (n.kind == LoopKind::Vector) cache_bytes = target_.own_cache_bytes;
    });
    Expr large = number_of_positions(row.array, 0, "_rows") > cache_bytes / row.bytes(), far = jumps(row) > 0;
    Var answer = start_.constant(row.array.symbol.name() + "_scattered", large && far);
    scattered_.emplace_back(row, answer);
    return answer;
  }

  /// Of a sample of neighbours, how many more are far from each other than near.
  Var jumps(const Row& row) {
    if (auto known = jumps_.find(row.crd.symbol); known != jumps_.end()) return known->second;
    Var n = count(row.crd);
    Var jumps = start_.variable(row.crd.symbol.name() + "_jumps", int32(0));
    start_.loop("s", int64(0), n - 1,
                [&](Var s) {
                  Expr distance = call(Math::Abs, {load(row.crd, s + 1) - load(row.crd, s)});
                  start_.increase(jumps, select(distance > jump_bytes / row.bytes(), int32(1), int32(-1)));
                },
                {.step = n / samples + 1});
    return jumps_.emplace(row.crd.symbol, jumps).first->second;
  }

  Var count(const Var& crd) { return number_of_positions(crd, sources_.at(crd.symbol).level, "_count"); }

  /// Of a level of the tensor that an array is of.
  Var number_of_positions(const Var& array, int level, const char* name) {
    Source end{Source::Field::End, sources_.at(array.symbol).index, level};
    for (const Param& p : params_)
      if (p.source.field == end.field && p.source.index == end.index && p.source.level == end.level) return p.var;
    params_.push_back({var(array.symbol.name() + name, Int64), end});
    return params_.back().var;
  }

  const Target& target_;
  std::vector<Param> params_;
  PrefetchSources sources_;
  std::set<Symbol> in_trees_;
  std::map<Symbol, Var> jumps_;
  std::vector<std::pair<Row, Var>> scattered_;
  Body start_;
};

}  // namespace

Function prefetch(const Function& f, const Target& target) {
  if (runs_on_gpu(f.body)) return f;
  Prefetcher prefetcher(f, target);
  Stmt body = rewrite(f.body, [&](const For& n) { return prefetcher.loop(n); });
  return prefetcher.function(f, body);
}

}  // namespace spdistal::passes
