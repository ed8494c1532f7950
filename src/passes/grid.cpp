// grid: a parallel loop as the function of a grid.
//
//   parallel t in 0 .. n           for block in 0 .. blocks: GPUBlock
//     body(t)                →       for thread in 0 .. 256: GPUThread
//                                      for t in block * 256 + thread .. n by blocks * 256
//                                        body(t)
//
// Arrays whose size is not a small constant come from outside, a part of a larger one for each worker.
#include "passes/grid.hpp"

#include <algorithm>
#include <map>

#include "base/require.hpp"
#include "ir/analysis.hpp"
#include "ir/build.hpp"
#include "ir/substitute.hpp"
#include "passes/lanes.hpp"
#include "passes/lanes/loops.hpp"
#include "passes/stage.hpp"

namespace spdistal::passes {

using namespace ir;

namespace {

/// Does the host know what an expression is before the statement runs?
bool is_known_before(const Expr& e, const Stmt& scope, const Symbol& item) {
  Changes inside = changes(scope);
  inside.variables.insert(item);
  return !inside.touches(e);
}

bool is_small(const Allocate& n) {
  constexpr int64_t own_bytes = 1024;  // of a thread
  auto count = constant_integer(n.count);
  return count && *count * int64_t(size_of(n.array.type.scalar)) <= own_bytes;
}

/// Arrays of workers become parts of larger ones.
class OwnArrays {
 public:
  OwnArrays(const Stmt& scope, const Expr& worker, const Symbol& item) : scope_(scope), worker_(worker), item_(item) {}

  Stmt setup(const Stmt& s) { return allocation(*s.as<Allocate>(), When::Before); }
  Stmt operator()(const Stmt& body) {
    Stmt out = rewrite(body, [&](const Allocate& n) -> Stmt {
      // Arrays whose size only the worker knows are taken by itself.
      bool stays =
          is_small(n) || n.space == MemorySpace::Shared || !is_known_before(expanded(n.count, scope_), scope_, item_);
      return stays ? Stmt(n) : allocation(n, When::Here);
    });
    return rewrite(
        out,
        [&](const Load& n) -> Expr {
          auto* part = find(n.array);
          return part ? Expr(Load{part->all, part->first + n.index, n.lanes}) : Expr(n);
        },
        [&](const Search& n) -> Expr {
          auto* part = find(n.array);
          if (!part) return n;
          Expr first = cast(type_of(n.lo).scalar, part->first);
          return Expr(Search{n.bound, part->all, first + n.lo, first + n.hi, n.value}) - first;
        },
        [&](const Store& n) -> Stmt {
          auto* part = find(n.array);
          return part ? Stmt(Store{n.mode, part->all, part->first + n.index, n.value}) : Stmt(n);
        },
        [&](const Sort& n) -> Stmt {
          auto* part = find(n.array);
          return part ? Stmt(Sort{part->all, part->first + n.lo, part->first + n.hi}) : Stmt(n);
        });
  }

  const std::vector<Stmt>& firsts() const { return firsts_; }
  const std::vector<Grid::Own>& own() const { return own_; }

 private:
  enum class When : uint8_t { Before, Here };
  struct Part {
    Var all, first;
  };

  Stmt allocation(const Allocate& n, When when) {
    Expr count = cast(ScalarType::Int64, expanded(n.count, scope_));
    std::string name = n.array.symbol.name();
    Part part{var(name, n.array.type), var(name + "_first", Int64)};
    firsts_.push_back(Declare{part.first, worker_ * count, Mutability::Const});
    bool clear_here = n.fill == Fill::Zeroed && when == When::Here;
    own_.push_back({part.all, count, clear_here ? Fill::Uninitialised : n.fill});
    parts_.emplace(n.array.symbol, part);
    if (!clear_here) return Block{};
    Var at = var("at", Int64);
    return For{at, int64(0), count, int64(1), Store{StoreMode::Set, n.array, at, zero(n.array.type.element())}};
  }
  const Part* find(const Var& array) const {
    auto it = parts_.find(array.symbol);
    return it == parts_.end() ? nullptr : &it->second;
  }

  const Stmt& scope_;
  Expr worker_;
  Symbol item_;
  std::map<Symbol, Part> parts_;
  std::vector<Stmt> firsts_;
  std::vector<Grid::Own> own_;
};

}  // namespace

Function function_of(const std::string& name, const Stmt& body) {
  Function out{name, {}, body};
  int arrays = 0, numbers = 0;
  for (const Var& v : free_variables(body))
    out.params.push_back(
        {v, v.type.is_array() ? Source{Source::Field::Array, arrays++} : Source{Source::Field::Argument, numbers++}});
  return out;
}

Stmt blocks_of_threads(const Var& blocks, int threads,
                       const std::function<Stmt(const Var& block, const Var& thread)>& f) {
  Var block = var("block", Int64), thread = var("thread", Int64);
  Stmt inner = For{thread, int64(0), int64(threads), int64(1), f(block, thread), LoopKind::GPUThread};
  return For{block, int64(0), blocks, int64(1), inner, LoopKind::GPUBlock};
}

Expr expanded(Expr e, const Stmt& scope) {
  std::map<Symbol, Expr> constants;
  each<Declare>(scope, [&](const Declare& n) {
    if (n.mutability == Mutability::Const) constants.emplace(n.var.symbol, n.init);
  });
  for (size_t turn = 0; turn < constants.size(); turn++) {
    Expr next = substitute(e, constants);
    if (next == e) break;
    e = next;
  }
  return e;
}

Grid grid_of(const ParallelRegion& region, const std::string& name, const GridMapping& mapping) {
  constexpr int threads = 256;
  require(assigned_outside(region.body).empty(), "the items of a grid leave the variables outside as they are");
  Var blocks = var("blocks", Int64), worker = var("worker", Int64), lane = var("lane", Int64);
  int lanes = region.setup.empty() ? lanes_for(region.body, mapping) : 1;
  std::optional<Stmt> divided = by_lanes(region.body, lane, lanes, mapping);
  if (!divided) lanes = 1;
  if (lanes == 1)
    if (std::optional<Grid> staged = staged_grid(region, name, mapping.average_row)) return *staged;
  Stmt scope = Block{{Block{region.setup}, region.body}};
  OwnArrays arrays(scope, worker, region.item.symbol);
  std::vector<Stmt> inside;
  for (const Stmt& s : region.setup) inside.push_back(arrays.setup(s));
  Stmt body = arrays(divided ? *divided : by_one_lane(region.body, mapping));
  bool strided = !arrays.own().empty();
  Expr count = cast(ScalarType::Int64, region.count);
  Stmt whole = blocks_of_threads(blocks, threads, [&](const Var& block, const Var& thread) -> Stmt {
    Expr number = Expr(block) * int64_t(threads) + thread;
    std::vector<Stmt> stmts{Declare{worker, lanes > 1 ? number / int64_t(lanes) : number, Mutability::Const}};
    if (lanes > 1) stmts.push_back(Declare{lane, Expr(thread) % int64_t(lanes), Mutability::Const});
    stmts.insert(stmts.end(), arrays.firsts().begin(), arrays.firsts().end());
    stmts.insert(stmts.end(), inside.begin(), inside.end());
    Var item = region.item.type == Int64 ? region.item : var(region.item.symbol.name(), Int64);
    std::vector<Stmt> turn;
    if (region.item.type != Int64)
      turn.push_back(Declare{region.item, cast(region.item.type.scalar, item), Mutability::Const});
    turn.push_back(body);
    if (strided) stmts.push_back(For{item, worker, count, Expr(blocks) * int64_t(threads / lanes), Block{turn}});
    else stmts.push_back(If{Expr(worker) < count, substitute(Block{turn}, {{item.symbol, worker}}), {}});
    return Block{stmts};
  });
  return Grid{.function = function_of(name, whole),
              .items = count,
              .lanes = lanes,
              .threads = threads,
              .blocks = blocks,
              .strided = strided,
              .own = arrays.own()};
}

Grid alone(const Stmt& stmt, const std::string& name) {
  Var blocks = var("blocks", Int64);
  std::vector<Grid::Assigned> assigned;
  std::vector<Stmt> before, after;
  // Inside, a number that is assigned is a variable of the thread's own.
  std::map<Symbol, Expr> renamed;
  for (const Var& v : assigned_outside(stmt)) {
    Var own = var(v.symbol.name(), v.type), cell = var(v.symbol.name() + "_cell", array_of(v.type.scalar));
    before.push_back(Declare{own, v, Mutability::Mutable});
    after.push_back(Store{StoreMode::Set, cell, int64(0), own});
    renamed.emplace(v.symbol, own);
    assigned.push_back({v, cell});
  }
  Stmt inner = rewrite(substitute(stmt, renamed), [&](const Assign& n) -> Stmt {
    auto it = renamed.find(n.var.symbol);
    return it == renamed.end() ? Stmt(n) : Stmt(Assign{*it->second.as<Var>(), n.value});
  });
  // A sum that is carried along is added up by all lanes of a warp.
  Var lane = var("lane", Int64);
  auto* loop = inner.as<For>();
  std::optional<Stmt> divided;
  if (loop && lane_loop(*loop) == LaneLoop::Scan) divided = by_lanes(inner, lane, warp_size, {});
  int threads = divided ? warp_size : 1;
  OwnArrays arrays(stmt, int64(0), blocks.symbol);
  inner = arrays(divided ? *divided : inner);
  if (divided)
    for (Stmt& s : after) s = If{equal(lane, 0), s, {}};
  before.insert(before.begin(), arrays.firsts().begin(), arrays.firsts().end());
  before.push_back(inner);
  before.insert(before.end(), after.begin(), after.end());
  Stmt whole = blocks_of_threads(blocks, threads, [&](const Var&, const Var& thread) -> Stmt {
    if (divided) before.insert(before.begin(), Declare{lane, thread, Mutability::Const});
    return Block{before};
  });
  return Grid{.function = function_of(name, whole),
              .items = int64(1),
              .lanes = threads,
              .threads = threads,
              .blocks = blocks,
              .strided = false,
              .own = arrays.own(),
              .assigned = assigned};
}

}  // namespace spdistal::passes
