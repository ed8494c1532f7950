#include <algorithm>

#include "ir/analysis.hpp"
#include "ir/build.hpp"
#include "ir/substitute.hpp"
#include "passes/cursors.hpp"
#include "passes/lanes/loops.hpp"
#include "passes/rows/walked.hpp"

namespace spdistal::passes {

using namespace ir;

namespace {

/// What a position adds to the sum of its row; the same whatever row that is.
struct AddedTerm {
  std::vector<Stmt> constants;
  Expr value;
};
std::optional<AddedTerm> added_term(const WalkedRows& walk) {
  const RowTurns& row = walk.in_row;
  if (!row.sum || lane_loop(row.positions) != LaneLoop::Sum) return {};
  std::vector<Stmt> stmts = flat(row.positions.body);
  auto* added = stmts.empty() ? nullptr : stmts.back().as<Assign>();
  auto* sum = added ? added->value.as<Binary>() : nullptr;
  if (!sum || added->var.symbol != row.sum->var.symbol || sum->a != Expr(row.sum->var)) return {};
  stmts.pop_back();
  if (!std::all_of(stmts.begin(), stmts.end(), is_constant)) return {};
  Changes of_row = changes(Block{row.constants});
  of_row.variables.insert(walk.row.var.symbol);
  of_row.arrays.merge(changes(Block{row.after}).arrays);
  if (of_row.touches(expanded(sum->b, row.positions.body))) return {};
  return AddedTerm{stmts, sum->b};
}

class SummingBlock {
 public:
  SummingBlock(const RowBlocks& blocks, const AddedTerm& term)
      : walk_(blocks.walk),
        sum_(*blocks.walk.in_row.sum),
        term_(term),
        room_(blocks.room),
        threads_(int(std::clamp<int64_t>(blocks.room / 8, 32, 256))) {}

  int threads() const { return threads_; }

  Stmt body(const Var& rows, const Var& block, const Var& thread) const {
    Body f;
    Var products = var("products", array_of(sum_.var.type.scalar));
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
  Expr place_of(const Expr& position) const { return cast(ScalarType::Int32, wide(position) - walk_.begin); }

  /// What stands along the positions is read by one thread alone.
  template <class Tree>
  Tree read_once(const Tree& tree) const {
    return rewrite(tree, [&](const Load& n) -> Expr {
      return Load{n.array, n.index, n.lanes, base_of(n.index, walk_.in_row.positions).has_value()};
    });
  }

  // All that a thread loads is asked for before any of it is stored: beyond the end, the last again.
  void multiply(Body& f, const Var& products, const Var& thread) const {
    int64_t turns = room_ / threads_;
    Var first = f.constant("first", Expr(walk_.begin) + thread);
    auto distance = [&](const Var& u) { return Expr(u) * int64_t(threads_); };
    f.when(Expr(first) < Expr(walk_.end), [&] {
      Var own = f.allocate("own", products.type.scalar, int64(turns), Fill::Uninitialised);
      auto each = [&](const Body::Each& fill) { f.loop("u", int64(0), int64(turns), fill, {.unroll = 0}); };
      each([&](const Var& u) {
        const Var& p = walk_.in_row.positions.var;
        f.add(declare(p, cast(p.type.scalar, Expr(first) + min(distance(u), Expr(walk_.end) - 1 - first))));
        for (const Stmt& s : term_.constants) f.add(read_once(s));
        f.store(own, u, read_once(term_.value));
      });
      each([&](const Var& u) {
        f.when(distance(u) < Expr(walk_.end) - first, [&] { f.store(products, thread + distance(u), load(own, u)); });
      });
    });
  }

  void add_up(Body& f, const Var& products, const Var& group, const Var& lane, const Var& last) const {
    constexpr int32_t long_row = 48;
    const Var &row = walk_.row.var, &sum = sum_.var;
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
    f.add(sum_);
    Var is_long = f.variable("is_long", Expr(hi) - lo > long_row);
    auto add = [&](const Var& to, const Expr& from, const Expr& end, int step) {
      f.loop("q", from, end, [&](const Var& q) { f.increase(to, load(products, q)); }, {.step = int32(step)});
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
  Declare sum_;
  AddedTerm term_;
  int64_t room_;
  int threads_;
};

}  // namespace

std::optional<BlockBody> summing_block(const RowBlocks& blocks) {
  std::optional<AddedTerm> term = added_term(blocks.walk);
  if (!term) return {};
  SummingBlock block(blocks, *term);
  return BlockBody{block.threads(),
                   [block](const Var& rows, const Var& of, const Var& thread) { return block.body(rows, of, thread); }};
}

}  // namespace spdistal::passes
