#include <algorithm>

#include "ir/analysis.hpp"
#include "passes/cursors.hpp"
#include "passes/tables/division.hpp"

namespace spdistal::passes {

using namespace ir;

namespace {

constexpr int far_threads = 512;

class ByCoordinate : public ItemDivision {
 public:
  ByCoordinate(const Gathering& item, const Places& places, const Var& thread, int near, const Expr& count)
      : ItemDivision(item, places, thread, near), count_(count) {}

  /// The places in order, as many at once as there are threads: a list that is sorted, and a workspace that is empty again.
  void list(Body& f) const {
    constexpr int warps_of_all = far_threads / warp_size;
    Var sums = var("of_warps", array_of(ScalarType::Int64));
    f.add(Allocate{sums, int64(warps_of_all), Fill::Uninitialised, MemorySpace::Shared});
    Var listed = f.variable("listed", int64(0)), warp = f.constant("warp", Expr(lane_) / int64_t(warp_size));
    auto some = [&](const Var& first) {
      Var coordinate = f.constant("coordinate", Expr(first) + lane_);
      Expr taken = differ(load(places_.keys, places_.first + coordinate), 0);
      Var there = f.constant("there", select(Expr(coordinate) < count_ && taken, int64(1), int64(0)));
      Var upto = f.constant("upto", Expr(WarpScan{BinaryOp::Add, there}));
      f.when(equal(Expr(lane_) % int64_t(warp_size), warp_size - 1), [&] { f.store(sums, warp, upto); });
      f.add(Barrier{});
      Var before = f.variable("before", int64(0)), all = f.variable("all", int64(0));
      f.loop("w", int64(0), int64(warps_of_all), [&](const Var& w) {
        f.when(Expr(w) < Expr(warp), [&] { f.increase(before, load(sums, w)); });
        f.increase(all, load(sums, w));
      });
      f.when(equal(there, 1), [&] {
        Expr key = cast(places_.key_type().scalar, coordinate), at = places_.first + coordinate;
        if (item_.stores()) list_one(f, Expr(listed) + before + upto - 1, key, at);
        places_.clear(f, at);
      });
      f.increase(listed, all);
      f.add(Barrier{});
    };
    f.loop("first", int64(0), count_, some, {.step = int64(far_threads)});
    const Var& counter = item_.arrays.count;
    bool asked = std::any_of(item_.after.begin(), item_.after.end(),
                             [&](const Stmt& s) { return uses(s).contains(counter.symbol); });
    if (asked) f.assign(counter, cast(counter.type.scalar, listed));  // nothing else has counted
    finish(f, listed);
  }

 private:
  Stmt touching(const For& n) const override { return every(n, lane_, far_threads); }
  Stmt touching_in_pairs(const For& n) const override {
    Body f;
    std::vector<Stmt> body = flat(n.body);
    const For& inner = *body.back().as<For>();
    f.loop(n.var.symbol.name() + "_own", wide(n.lo) + Expr(lane_) / int64_t(near_), wide(n.hi),
           [&](const Var& at) {
             f.add(declare(n.var, cast(n.var.type.scalar, at)));
             for (size_t k = 0; k + 1 < body.size(); k++) f.add(body[k]);
             f.add(every(inner, Expr(lane_) % int64_t(near_), near_));
           },
           {.step = int64(far_threads / near_)});
    return f.build();
  }
  Stmt every(const For& n, const Expr& from, int step) const {
    Body f;
    f.loop(n.var.symbol.name() + "_own", wide(n.lo) + from, wide(n.hi),
           [&](const Var& at) {
             f.add(declare(n.var, cast(n.var.type.scalar, at)));
             f.add(with_claims(n.body, [&](const WorkspaceTouch& touch) { return claiming(touch); }));
           },
           {.step = int64(step)});
    return f.build();
  }
  Stmt claiming(const WorkspaceTouch& touch) const {
    Body f;
    Var place = f.constant("place", places_.first + touch.coordinate);
    Var found = f.variable("found", zero(places_.key_type()));
    f.add(Claim{found, places_.keys, place, cast(places_.key_type().scalar, int64(1))});
    if (places_.sums) f.atomic_add(*places_.sums, place, *touch.value);
    return f.build();
  }

  Expr count_;  // of coordinates
};

}  // namespace

Grid far_grid(const ParallelRegion& region, const Gathering& item, const Var& queue, const Var& queued,
              const std::string& name, double average_row) {
  Var blocks = var("blocks", Int64), first = var("table_first", Int64), turn = var("turn", Int64);
  Stmt scope = Block{{Block{region.setup}, region.body}};
  Expr count = wide(expanded(region.setup[0].as<Allocate>()->count, scope));
  Places places(item, first);
  Stmt whole = blocks_of_threads(blocks, far_threads, [&](const Var& block, const Var& thread) -> Stmt {
    ByCoordinate body(item, places, thread, lanes_of_a_row(average_row), count);
    Body f;
    f.add(declare(first, Expr(block) * count));
    f.add(For{turn, block, queued, blocks, f.collect([&] {
                f.add(declare(region.item, load(queue, turn)));
                body.gather(f);
                f.add(Barrier{});
                body.list(f);
              })});
    return f.build();
  });
  std::vector<Grid::Own> own{{places.keys, count, Fill::Zeroed}};
  if (places.sums) own.push_back({*places.sums, count, Fill::Zeroed});
  return Grid{.function = function_of(name, whole),
              .items = queued,
              .lanes = far_threads,
              .threads = far_threads,
              .blocks = blocks,
              .own = own};
}

}  // namespace spdistal::passes
