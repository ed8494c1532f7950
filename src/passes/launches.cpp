#include "passes/launches.hpp"

#include <fmt/format.h>

#include <utility>

#include "base/require.hpp"
#include "ir/analysis.hpp"
#include "ir/build.hpp"
#include "passes/carried.hpp"
#include "passes/grid.hpp"
#include "passes/row_grids.hpp"
#include "passes/tables.hpp"

namespace spdistal::passes {

using namespace ir;

namespace {

/// Is there something in it that only the host does?
bool is_the_hosts(const Stmt& s) { return holds<Parallel, Resize, Shrink, Return>(s); }

class Outliner {
 public:
  Outliner(const Function& f, const GridMapping& mapping) : name_(f.name), mapping_(mapping) {
    for (const Param& p : f.params)
      if (p.source.field == Source::Field::Segments && p.var.type.form == Type::Form::ConstArray)
        ascending_.insert(p.var.symbol);
  }

  DeviceSteps steps(const Stmt& s) {
    DeviceSteps out;
    add(s, out);
    return out;
  }

 private:
  void add(const Stmt& s, DeviceSteps& out) {
    match(
        s, [&](const Declare&) { out.push_back(s); }, [&](const Assign&) { out.push_back(s); },
        [&](const Store&) { out.push_back(alone(s, next_name())); }, [](const Prefetch&) {},
        [&](const For& n) {
          if (!is_the_hosts(s)) return loop(n, out);
          out.push_back(std::make_shared<const Repetition>(
              Repetition{n.var, n.lo, n.hi, n.step, literal(ir::Scalar::of(true)), steps(n.body)}));
        },
        [&](const While& n) {
          if (!is_the_hosts(s)) return out.push_back(alone(s, next_name()));
          out.push_back(
              std::make_shared<const Repetition>(Repetition{{}, int64(0), int64(0), int64(1), n.cond, steps(n.body)}));
        },
        [&](const If& n) {
          out.push_back(std::make_shared<const Choice>(
              Choice{n.cond, steps(n.then), n.otherwise ? steps(*n.otherwise) : DeviceSteps{}}));
        },
        [&](const Block& n) {
          for (const Stmt& inner : n.stmts) add(inner, out);
        },
        [](const Comment&) {}, [&](const Allocate&) { out.push_back(s); },
        [&](const Sort&) { out.push_back(alone(s, next_name())); }, [&](const Break&) { out.push_back(s); },
        [&](const Return&) { out.push_back(s); },
        [&](const Parallel& n) {
          ParallelRegion region{n.share, n.count, n.setup, n.body, ascending_};
          std::string name = next_name();
          if (auto grids = table_grids(region, name, mapping_)) by_tables(*grids, region, out);
          else if (auto sums = row_grids(region, name, mapping_)) by_blocks(*sums, out);
          else out.push_back(grid_of(region, name, mapping_));
        },
        [&](const Resize&) { out.push_back(s); }, [&](const Shrink&) { out.push_back(s); },
        [](const Append&) { require(false, "kernels of devices append nothing"); },
        [](const Define&) { require(false, "parts are written out before"); },
        [](const Perform&) { require(false, "parts are written out before"); },
        [](const Barrier&) { require(false, "threads wait inside of grids"); },
        [](const Claim&) { require(false, "threads claim elements inside of grids"); });
  }

  // What tables have no room for is counted and queued up.
  void by_tables(const TableGrids& grids, const ParallelRegion& region, DeviceSteps& out) {
    Expr items = cast(ScalarType::Int64, region.count);
    out.push_back(Stmt(Allocate{grids.left, items + 1, Fill::Zeroed}));
    out.push_back(grids.near);
    Body f;
    f.add(Declare{grids.queued, int64(0), Mutability::Mutable});
    f.loop("t", int64(0), items + 1, [&](const Var& t) {
      Var here = f.constant("here", load(grids.left, t));
      f.store(grids.left, t, grids.queued);
      f.increase(grids.queued, here);
    });
    add(f.build(), out);
    Var t = var("t", Int64);
    Stmt queue =
        If{load(grids.left, t) < load(grids.left, Expr(t) + 1), store(grids.queue, load(grids.left, t), t), {}};
    DeviceSteps far{Stmt(Allocate{grids.queue, grids.queued, Fill::Uninitialised}),
                    grid_of({t, items, {}, queue}, next_name(), {.lanes = 1}), grids.far};
    out.push_back(std::make_shared<const Choice>(Choice{Expr(grids.queued) > 0, far, {}}));
  }

  static void by_blocks(const RowGrids& grids, DeviceSteps& out) {
    Stmt rows = Allocate{grids.rows, grids.found, Fill::Uninitialised};
    out.push_back(std::make_shared<const Choice>(Choice{grids.blocks > 0, {rows, grids.look_up, grids.walk}, {}}));
  }

  // A loop that the host does not need to see.
  void loop(const For& n, DeviceSteps& out) {
    if (is_independent(n)) {
      Var turn = var("turn", Int64);
      out.push_back(grid_of({turn, turns(n), {}, Block{{Declare{n.var, value_at(n, turn), Mutability::Const}, n.body}}},
                            next_name(), GridMapping{.lanes = 1}));
      return;
    }
    constexpr int64_t most_shares[] = {1 << 16, 1 << 8};
    auto sum = carried_sum(n);
    if (sum && depth_ < std::size(most_shares)) {
      std::vector<Stmt> parts = in_shares(n, *sum, most_shares[depth_++]);
      GridMapping before = std::exchange(mapping_, GridMapping{.lanes = mapping_.lanes.value_or(warp_size)});
      for (const Stmt& part : parts) add(part, out);
      mapping_ = before;
      depth_--;
      return;
    }
    out.push_back(alone(n, next_name()));
  }

  std::string next_name() { return fmt::format("{}{}", name_, ++count_); }

  std::string name_;
  GridMapping mapping_;
  std::set<Symbol> ascending_;
  int count_ = 0;
  size_t depth_ = 0;  // of sums of sums
};

}  // namespace

Launches launches(const Function& f, const GridMapping& mapping) {
  bool one_threads = !is_the_hosts(f.body) && !holds<For, While>(f.body);
  if (one_threads) return {f.name, f.params, {alone(f.body, f.name + "1")}};
  return {f.name, f.params, Outliner(f, mapping).steps(f.body)};
}

}  // namespace spdistal::passes
