#include "passes/row_sums.hpp"

#include <algorithm>

#include "ir/analysis.hpp"
#include "ir/build.hpp"
#include "ir/substitute.hpp"
#include "passes/cursors.hpp"
#include "passes/lanes/loops.hpp"

namespace spdistal::passes {

using namespace ir;

namespace {

/// What is done in a row: its positions are added up.
struct RowSum {
  std::vector<Stmt> constants;
  Declare sum;
  For positions;            // those of the row that are in the share
  std::vector<Stmt> after;  // what is done with the sum
};
/// What a position adds to the sum.
struct AddedTerm {
  std::vector<Stmt> constants;
  Expr value;
};
/// A share's walk along the rows of its positions.
struct WalkedRows {
  std::vector<Stmt> constants;
  Var begin, end;  // its positions
  Declare row;     // where it begins
  Expr goes_on;    // has the share something of the row?
  RowSum in_row;
  AddedTerm term;
};

bool is_constant(const Stmt& s) {
  auto* declared = s.as<Declare>();
  return declared && declared->mutability == Mutability::Const;
}
const Declare* variable(const Stmt& s) {
  auto* declared = s.as<Declare>();
  return declared && declared->mutability == Mutability::Mutable ? declared : nullptr;
}

/// An operand of a minimum or maximum that a statement leaves as it is.
std::optional<Var> fixed_bound(const Expr& e, BinaryOp op, const Changes& inside) {
  auto* bound = e.as<Binary>();
  if (!bound || bound->op != op) return {};
  for (const Expr& side : {bound->a, bound->b})
    if (auto* v = side.as<Var>(); v && !inside.touches(side)) return *v;
  return {};
}

/// Does a statement go on to the next row, or over some that have no positions?
bool goes_on_from(const Stmt& s, const Var& row) {
  if (auto* step = s.as<Assign>()) return is_increment(*step, row);
  auto* choice = s.as<If>();
  std::vector<Stmt> over = choice ? flat(choice->then) : std::vector<Stmt>{};
  std::vector<Stmt> next = choice && choice->otherwise ? flat(*choice->otherwise) : std::vector<Stmt>{};
  if (over.size() != 1 || next.size() != 1) return false;
  auto *found = over[0].as<Assign>(), *step = next[0].as<Assign>();
  return found && step && holds<Search>(found->value) && is_increment(*step, row);
}

std::optional<RowSum> row_sum(const Stmt& body, const Var& row) {
  std::vector<Stmt> stmts = flat(body), constants;
  size_t at = 0;
  std::optional<Declare> sum;
  for (; at < stmts.size() && stmts[at].is<Declare>(); at++) {
    if (is_constant(stmts[at])) constants.push_back(stmts[at]);
    else if (std::exchange(sum, *variable(stmts[at]))) return {};
  }
  auto* loop = at < stmts.size() ? stmts[at].as<For>() : nullptr;
  if (!sum || !loop || lane_loop(*loop) != LaneLoop::Sum || constant_integer(loop->step) != 1) return {};
  if (at + 2 > stmts.size() || !goes_on_from(stmts.back(), row)) return {};
  std::vector<Stmt> after(stmts.begin() + long(at) + 1, stmts.end() - 1);
  Stmt rest = Block{after};
  if (!assigned_outside(rest).empty() || holds<For, While, Break, Allocate, Sort>(rest)) return {};
  return RowSum{constants, *sum, *loop, after};
}

std::optional<AddedTerm> term_of(const RowSum& row) {
  std::vector<Stmt> stmts = flat(row.positions.body);
  auto* added = stmts.empty() ? nullptr : stmts.back().as<Assign>();
  auto* sum = added ? added->value.as<Binary>() : nullptr;
  if (!sum || added->var.symbol != row.sum.var.symbol || sum->a != Expr(row.sum.var)) return {};
  stmts.pop_back();
  if (!std::all_of(stmts.begin(), stmts.end(), is_constant)) return {};
  return AddedTerm{stmts, sum->b};
}

/// What a position adds is the same in whatever row it is added.
bool is_of_the_position(const AddedTerm& term, const RowSum& row, const Stmt& rows) {
  Changes inside = changes(rows);
  inside.variables.erase(row.positions.var.symbol);
  return !inside.touches(expanded(term.value, row.positions.body));
}

std::optional<WalkedRows> walk_of(const ParallelRegion& region) {
  std::vector<Stmt> stmts = flat(region.body), constants;
  std::optional<Expr> asked;  // of a share, before it is walked along
  if (auto* guarded = stmts.empty() ? nullptr : stmts.back().as<If>(); guarded && !guarded->otherwise) {
    asked = guarded->cond;
    std::vector<Stmt> inner = flat(guarded->then);
    stmts.pop_back();
    stmts.insert(stmts.end(), inner.begin(), inner.end());
  }
  if (stmts.size() < 2) return {};
  const Declare* row = variable(stmts[stmts.size() - 2]);
  auto* rows = stmts.back().as<While>();
  constants.assign(stmts.begin(), stmts.end() - 2);
  if (!row || !rows || !std::all_of(constants.begin(), constants.end(), is_constant)) return {};
  std::vector<Var> moved = assigned_outside(rows->body);
  if (moved.size() != 1 || moved[0].symbol != row->var.symbol) return {};
  std::optional<RowSum> in_row = row_sum(rows->body, row->var);
  std::optional<AddedTerm> term = in_row ? term_of(*in_row) : std::nullopt;
  if (!term || !is_of_the_position(*term, *in_row, rows->body)) return {};
  Changes inside = changes(rows->body);
  std::optional<Var> begin = fixed_bound(expanded(in_row->positions.lo, rows->body), BinaryOp::Max, inside);
  std::optional<Var> end = fixed_bound(expanded(in_row->positions.hi, rows->body), BinaryOp::Min, inside);
  auto* less = rows->cond.as<Binary>();
  if (!begin || !end || begin->type != Int64 || end->type != Int64 || !less || less->op != BinaryOp::Lt) return {};
  if (less->b != Expr(*end) || (asked && *asked != (Expr(*begin) < Expr(*end)))) return {};
  return WalkedRows{constants, *begin, *end, *row, rows->cond, *in_row, *term};
}

/// The positions of all shares together.
struct AllPositions {
  Expr begin, end;
};
/// Where shares are dealt out evenly: of number t it is base + size * t / count.
std::optional<AllPositions> all_of(const Expr& begin, const ParallelRegion& region) {
  auto* sum = begin.as<Binary>();
  bool shifted = sum && sum->op == BinaryOp::Add;
  Expr base = shifted ? sum->a : int64(0), rest = shifted ? sum->b : begin;
  auto* part = rest.as<Binary>();
  auto* all = part && part->op == BinaryOp::Div ? part->a.as<Binary>() : nullptr;
  if (!all || all->op != BinaryOp::Mul || all->b != Expr(region.item) || part->b != region.count) return {};
  AllPositions out{base, base + all->a};
  if (has_loads(begin) || Changes{{region.item.symbol}, {}}.touches(out.end)) return {};
  return out;
}

/// Where each share begins where the one before ends, and nothing else tells them apart.
std::optional<AllPositions> dealt_out(const ParallelRegion& region, WalkedRows& walk) {
  Stmt scope = Block{walk.constants};
  Expr begin = expanded(walk.begin, scope), end = expanded(walk.end, scope);
  std::erase_if(walk.constants, [&](const Stmt& s) {
    const Symbol& symbol = s.as<Declare>()->var.symbol;
    return symbol == walk.begin.symbol || symbol == walk.end.symbol;
  });
  Changes share{{region.item.symbol}, {}};
  for (const Stmt& s : walk.constants)
    if (share.touches(expanded(s.as<Declare>()->init, scope))) return {};
  if (end != substitute(begin, {{region.item.symbol, Expr(region.item) + 1}})) return {};
  return all_of(begin, region);
}

class Blocks {
 public:
  Blocks(const WalkedRows& walk, const AllPositions& all, const GridMapping& mapping)
      : walk_(walk), all_(all), room_(mapping.products), threads_(std::clamp(mapping.products / 8, 32, 256)) {}

  int threads() const { return threads_; }
  Expr count() const { return (all_.end - all_.begin + (room_ - 1)) / int64_t(room_); }

  /// The row that the block begins in.
  Expr row_of(const Expr& block) const {
    Expr row = expanded(walk_.row.init, Block{walk_.constants});
    return wide(substitute(row, {{walk_.begin.symbol, begin_of(block)}}));
  }

  Stmt body(const Var& rows, const Var& block, const Var& thread) const {
    Body f;
    for (const Stmt& s : walk_.constants) f.add(s);
    f.add(declare(walk_.begin, begin_of(block)));
    f.add(declare(walk_.end, begin_of(Expr(block) + 1)));
    Var products = var("products", array_of(walk_.in_row.sum.var.type.scalar));
    f.add(Allocate{products, int64(room_), Fill::Uninitialised, MemorySpace::Shared});
    multiply(f, products, thread);
    f.add(Barrier{});
    // A warp takes neighbouring rows, each lane one of them.
    Var lane = f.constant("lane", cast(ScalarType::Int32, Expr(thread) % int64_t(warp_size)));
    Var last = f.constant("last", load(rows, Expr(block) + 1));
    f.loop("group", load(rows, block) + (Expr(thread) - lane), Expr(last) + 1,
           [&](const Var& group) { add_up(f, products, group, lane, last); }, {.step = int64(threads_)});
    return f.build();
  }

 private:
  Expr begin_of(const Expr& block) const { return min(all_.begin + block * int64_t(room_), all_.end); }
  Expr place_of(const Expr& position) const { return cast(ScalarType::Int32, wide(position) - walk_.begin); }

  // All that a thread loads is asked for before any of it is stored: beyond the end, the last again.
  void multiply(Body& f, const Var& products, const Var& thread) const {
    int turns = room_ / threads_;
    Var first = f.constant("first", Expr(walk_.begin) + thread);
    auto distance = [&](const Var& u) { return Expr(u) * int64_t(threads_); };
    f.when(Expr(first) < Expr(walk_.end), [&] {
      Var own = f.allocate("own", products.type.scalar, int64(turns), Fill::Uninitialised);
      auto each = [&](const Body::Each& fill) { f.loop("u", int64(0), int64(turns), fill, {.unroll = 0}); };
      each([&](const Var& u) {
        const Var& p = walk_.in_row.positions.var;
        f.add(declare(p, cast(p.type.scalar, Expr(first) + min(distance(u), Expr(walk_.end) - 1 - first))));
        for (const Stmt& s : walk_.term.constants) f.add(s);
        f.store(own, u, walk_.term.value);
      });
      each([&](const Var& u) {
        f.when(distance(u) < Expr(walk_.end) - first, [&] { f.store(products, thread + distance(u), load(own, u)); });
      });
    });
  }

  void add_up(Body& f, const Var& products, const Var& group, const Var& lane, const Var& last) const {
    constexpr int32_t long_row = 48;
    const Var &row = walk_.row.var, &sum = walk_.in_row.sum.var;
    auto of_row = [&](const Body::Then& then) {
      f.add(with_fresh_variables(f.collect([&] {
        for (const Stmt& s : walk_.in_row.constants) f.add(s);
        then();
      })));
    };
    f.add(declare(row, cast(row.type.scalar, Expr(group) + lane)));
    Var lo = f.variable("lo", int32(0)), hi = f.variable("hi", int32(0));
    Var here = f.variable("here", Expr(group) + lane <= Expr(last));
    f.when(here, [&] { f.assign(here, walk_.goes_on); });
    f.when(here, [&] {
      of_row([&] {
        f.assign(lo, place_of(walk_.in_row.positions.lo));
        f.assign(hi, place_of(walk_.in_row.positions.hi));
      });
    });
    f.add(walk_.in_row.sum);
    Var is_long = f.variable("is_long", Expr(hi) - lo > long_row);
    auto add = [&](const Var& to, const Expr& from, const Expr& end, int step) {
      f.loop("q", from, end, [&](const Var& q) { f.increase(to, load(products, q)); }, {.step = int64(step)});
    };
    f.when(!Expr(is_long), [&] { add(sum, lo, hi, 1); });
    f.loop_while(WarpVote{Vote::Any, is_long}, [&] {
      Var whose = f.constant("whose", Expr(WarpReduce{BinaryOp::Min, select(is_long, lane, warp_size)}));
      auto of_it = [&](const Var& v) { return Expr(Shuffle{Peer::Lane, v, whose}); };
      Var from = f.constant("from", of_it(lo)), to = f.constant("to", of_it(hi));
      Var part = f.variable("part", zero(sum.type));
      add(part, Expr(from) + lane, to, warp_size);
      Var all = f.constant("all", Expr(WarpReduce{BinaryOp::Add, part}));
      f.when(equal(lane, whose), [&] {
        f.increase(sum, all);
        f.assign(is_long, false);
      });
    });
    f.when(here, [&] {
      of_row([&] {
        for (const Stmt& s : walk_.in_row.after) f.add(s);
      });
    });
  }

  const WalkedRows& walk_;
  AllPositions all_;
  int room_, threads_;
};

}  // namespace

std::optional<RowSumGrids> row_sum_grids(const ParallelRegion& region, const std::string& name,
                                         const GridMapping& mapping) {
  if (!region.setup.empty() || mapping.lanes) return {};
  std::optional<WalkedRows> walk = walk_of(region);
  std::optional<AllPositions> all = walk ? dealt_out(region, *walk) : std::nullopt;
  if (!all) return {};
  Blocks blocks(*walk, *all, mapping);
  Var rows = var("rows", array_of(ScalarType::Int64)), block = var("block", Int64), count = var("blocks", Int64);
  ParallelRegion each{block, blocks.count() + 1, {}, store(rows, block, blocks.row_of(block))};
  Stmt whole = blocks_of_threads(count, blocks.threads(),
                                 [&](const Var& of, const Var& thread) { return blocks.body(rows, of, thread); });
  return RowSumGrids{rows, blocks.count(), grid_of(each, name + "_rows", {.lanes = 1}),
                     Grid{.function = function_of(name, whole),
                          .items = blocks.count(),
                          .lanes = blocks.threads(),
                          .threads = blocks.threads(),
                          .blocks = count,
                          .strided = false}};
}

}  // namespace spdistal::passes
